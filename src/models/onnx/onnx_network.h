#pragma once

#include <memory>
#include <string>
#include <vector>

#include "formats/weights/weights_file.h"
#include "graph/network.h"

namespace tandem {

/// The network that a model of ONNX describes, as `--model=FILE.onnx` takes it (docs/NETWORK_FILE.md).
///
/// The model is read operator by operator (Importer). Its nodes become those of the catalog of operations; what only
/// orders elements becomes none. Names of parameters are those of the model's tensors, or of the exporter's modules.
///
/// `imageSize` is height and width where the model leaves both free; 0: 224. Paddings by `auto_pad`, crops and what is
/// computed of shapes follow from it.
///
/// A file is read once for each size, and again after its size or its time has changed. Thread-safe. Throws DataError
/// "PATH: ..." for what is no model or not read, with the node, its operator and the reason.
Network openOnnxNetwork(const std::string& path, int64_t imageSize = 0);

/// The weights that the model holds, under the names of stateTensors() of its network. The format is "onnx"; the note
/// says what of the model is left away. Throws as openOnnxNetwork().
WeightsFile openOnnxWeights(const std::string& path);

/// The two, for the bytes of a file. `path` is used for errors and for the name.
struct OnnxImport {
  Network network;
  WeightsFile weights;
};
OnnxImport importOnnx(std::vector<uint8_t> bytes, const std::string& path, int64_t imageSize = 0);

}  // namespace tandem
