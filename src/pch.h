#pragma once

// Precompiled for the folders without libtorch. Sources include what they use all the same. Only what nearly all of
// them use: whatever templates a header uses itself are instantiated again in each source, precompiled or not.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
