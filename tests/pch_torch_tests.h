#pragma once

// Precompiled for the tests of folders with libtorch.
#include "pch_tests.h"
#include "pch_torch.h"
