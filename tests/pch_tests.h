#pragma once

// Precompiled for the tests of folders without libtorch.
#include <gtest/gtest.h>

#include "pch.h"
