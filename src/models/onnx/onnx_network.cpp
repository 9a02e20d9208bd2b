#include "models/onnx/onnx_network.h"

#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/mutex.h"
#include "base/text.h"
#include "base/utf8.h"
#include "formats/io/checksum.h"
#include "formats/io/file.h"
#include "formats/onnx/onnx_model.h"
#include "models/onnx/importer.h"

namespace tandem {
namespace {

/// What a weights file's tensors refer to.
struct Memory {
  explicit Memory(uint64_t modelBytes) : computed(modelBytes) {}

  OnnxModel model;  // tensors that the file does not store as plain bytes
  onnx::ConstantMemory computed;
};

std::string networkName(const std::string& path) {
  std::string name;
  for (const char c : std::filesystem::path(path).stem().string()) name += c > ' ' && c <= '~' ? c : '_';
  constexpr size_t longest = 100;
  return name.empty() ? "network" : name.substr(0, longest);
}

NetworkFile fileOf(const onnx::Importer& importer, int output, const Graph& graph, const std::string& path) {
  NetworkFile file = describeGraph(graph, importer.graph.finish(output, 1).graph);
  file.name = networkName(path);
  file.classes = graph.node(graph.output()).shape.channels;
  return file;
}

}  // namespace

OnnxImport importOnnx(std::vector<uint8_t> bytes, const std::string& path, int64_t imageSize) {
  auto memory = std::make_shared<Memory>(bytes.size());
  auto parsed = parseOnnx(bytes);
  if (!parsed) {
    throw DataError(concat(path, ": offset ", parsed.error().offset, ": ", parsed.error().text));
  }
  memory->model = std::move(parsed.value());
  try {
    onnx::Importer importer(memory->model, memory->computed, imageSize);
    importer.run();
    const int output = importer.output();
    const onnx::ImportedGraph::Finished finished = importer.graph.finish(output, 0);
    std::vector<FileTensor> tensors;
    for (const auto& [name, tensor] : finished.weights) {
      tensors.push_back(tensor);
      tensors.back().name = name;
    }
    NetworkFile file = fileOf(importer, output, finished.graph, path);
    // Of the text that `tandem list models --dump` prints, so that what is printed is what runs.
    const std::string text = networkText(file);
    Network network = networkOf({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, path);
    network.sha256 = sha256Of(bytes);
    WeightsFile::Content content{.path = path,
                                 .format = "onnx",
                                 .note = join(importer.notes, "; "),
                                 .tensors = std::move(tensors),
                                 .memory = std::move(memory)};
    return {std::move(network), WeightsFile::of(std::move(bytes), std::move(content))};
  } catch (const UsageError& broken) {
    throw DataError(concat(path, ": ", broken.what()));
  }
}

namespace {

OnnxImport opened(const std::string& path, int64_t imageSize) {
  return importOnnx(readFile(path, OnnxLimits().bytes), path, imageSize);
}

/// The networks of files that were read. A plan asks for one several times, and such a file may have gigabytes.
class KnownNetworks {
 public:
  Network at(const std::string& path, int64_t imageSize) {
    namespace fs = std::filesystem;
    std::error_code unknown;
    const State state{fs::file_size(path, unknown), fs::last_write_time(path, unknown)};
    const MutexLock lock(mutex_);
    const auto known = networks_.find({path, imageSize});
    if (!unknown && known != networks_.end() && known->second.first == state) return known->second.second;
    Network network = opened(path, imageSize).network;
    networks_.insert_or_assign({path, imageSize}, std::pair(state, network));
    return network;
  }

 private:
  using State = std::pair<std::uintmax_t, std::filesystem::file_time_type>;

  Mutex mutex_;
  std::map<std::pair<std::string, int64_t>, std::pair<State, Network>> networks_ TANDEM_GUARDED_BY(mutex_);
};

}  // namespace

Network openOnnxNetwork(const std::string& path, int64_t imageSize) {
  static KnownNetworks known;
  return known.at(path, imageSize);
}

WeightsFile openOnnxWeights(const std::string& path) { return opened(path, 0).weights; }

}  // namespace tandem
