#pragma once

#include <string_view>

namespace tandem {

/// Whether a value of --model is the path of a network file, not the name of a model.
inline bool isNetworkPath(std::string_view model) { return model.ends_with(".json"); }

}  // namespace tandem
