#pragma once

#include <string_view>

namespace tandem {

/// Whether a value of --model is the path of a model of ONNX, which brings its weights.
inline bool isOnnxPath(std::string_view model) { return model.ends_with(".onnx"); }

/// Whether a value of --model is the path of a file that describes a network, not the name of a model.
inline bool isNetworkPath(std::string_view model) { return model.ends_with(".json") || isOnnxPath(model); }

}  // namespace tandem
