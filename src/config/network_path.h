#pragma once

#include <string_view>

namespace tandem {

/// Whether the value of --model is the path of a network file instead of the name of a model.
inline bool isNetworkPath(std::string_view model) { return model.ends_with(".json"); }

}  // namespace tandem
