#pragma once

// Precompiled for the folders with libtorch.
#include <ATen/ATen.h>

#include "pch.h"
