#include <ATen/ATen.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/catalog.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/catalogs.h"
#include "cli/commands.h"
#include "cli/inference_command.h"
#include "cli/table.h"
#include "config/command_line.h"
#include "device/allocator/cpu_allocator.h"
#include "formats/io/file.h"
#include "models/model.h"
#include "run/output_activation.h"

namespace tandem {
namespace {

using nlohmann::ordered_json;

constexpr uint64_t largestNames = 64 << 20;

/// The lines of --class-names. Throws DataError unless they are UTF-8 and there is one per class.
std::vector<std::string> classNames(const Config& config) {
  if (config.inference.classNames.empty()) return {};
  const std::vector<uint8_t> bytes = readFile(config.inference.classNames, largestNames);
  std::vector<std::string> names = split({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "\n");
  if (names.back().empty()) names.pop_back();
  for (std::string& name : names) {
    if (name.ends_with('\r')) name.pop_back();
    if (!isUtf8(name)) throw DataError(concat(config.inference.classNames, ": '", escaped(name), "' is not UTF-8"));
  }
  if (std::ssize(names) != config.network.classes) {
    throw DataError(concat(config.inference.classNames, ": has ", names.size(), " lines, but ", config.network.model,
                           " has ", config.network.classes, " classes; one name a line"));
  }
  return names;
}

std::string scoresOfHead(const Graph& graph) {
  const TaskLoss& loss = graph.loss();
  if (!loss.head.empty()) return std::string(loss.head);
  throw UsageError(concat("tandem predict: the network's loss is ", loss.name,
                          ", whose outputs are no classes; --scores=logits shows them as they are"));
}

struct Scored {
  int64_t number = 0;
  double score = 0;
};

/// The `top` best classes of one image, best first; 0: all.
std::vector<Scored> best(const at::Tensor& row, int64_t top) {
  const int64_t count = top == 0 ? row.numel() : std::min(top, row.numel());
  const auto [values, indices] = row.topk(count);
  std::vector<Scored> result;
  for (int64_t i = 0; i < count; ++i) result.push_back({indices[i].item<int64_t>(), values[i].item<double>()});
  return result;
}

/// Whether each image has a class as its label: those of a data set.
bool hasClasses(const InferenceResult& result) {
  return result.labels.dim() == 1 && result.labels.ge(0).all().item<bool>();
}

/// Share of the images, 0 to 1, whose label is among their `top` largest outputs. Empty for images without labels, and
/// where every class is among them.
std::optional<double> accuracy(const InferenceResult& result, int64_t top) {
  if (!hasClasses(result) || top >= result.outputs.size(1)) return std::nullopt;
  const at::Tensor classes = std::get<1>(result.outputs.topk(top));
  return classes.eq(result.labels.unsqueeze(1)).any(1).to(at::kDouble).mean().item<double>();
}

constexpr int64_t tops[] = {1, 5};  // of which accuracies are usually stated

ordered_json toJson(const InferenceRequest& request, const InferenceResult& result, const at::Tensor& shownAs,
                    const std::vector<std::string>& names) {
  const Config& config = request.plan.config;
  const bool labelled = hasClasses(result);
  auto images = ordered_json::array();
  for (int64_t row = 0; row < std::ssize(result.images); ++row) {
    auto classes = ordered_json::array();
    for (const Scored& scored : best(shownAs[row], config.inference.top)) {
      ordered_json entry{{"class", scored.number}, {"score", scored.score}};
      if (!names.empty()) entry["name"] = names[static_cast<size_t>(scored.number)];
      classes.push_back(std::move(entry));
    }
    auto& image = images.emplace_back(ordered_json{{"image", request.nameOf(result.images[static_cast<size_t>(row)])}});
    if (labelled) image["label"] = result.labels[row].item<int64_t>();
    image["classes"] = std::move(classes);
  }
  ordered_json object{{"model", config.network.model},
                      {"weights", config.network.weights},
                      {"data_split", splitJson(request)},
                      {"scores", config.inference.scores},
                      {"images", images},
                      {"left_out", leftOutJson(request, result)},
                      {"images_per_second", imagesPerSecond(result)}};
  for (const int64_t top : tops) {
    if (const auto share = accuracy(result, top)) object["accuracy"][concat("top_", top)] = *share;
  }
  return object;
}

/// The accuracy on a data set's images, instead of a table of thousands of rows.
void printAccuracy(const InferenceRequest& request, const InferenceResult& result) {
  std::vector<std::string> texts;
  for (const int64_t top : tops) {
    if (const auto share = accuracy(result, top))
      texts.push_back(concat("top-", top, ' ', fixed(100 * *share, 2), " %"));
  }
  std::cout << "accuracy on " << result.images.size() << ' ' << withoutControls(dataText(request.plan)) << ": "
            << join(texts) << '\n'
            << rateText(request, result) << '\n';
}

void print(const InferenceRequest& request, const InferenceResult& result, const at::Tensor& shownAs,
           const std::vector<std::string>& names) {
  const Config& config = request.plan.config;
  std::vector<std::vector<std::string>> rows{{"image", "class", config.inference.scores}};
  for (int64_t row = 0; row < std::ssize(result.images); ++row) {
    for (const Scored& scored : best(shownAs[row], config.inference.top)) {
      const std::string number = std::to_string(scored.number);
      const std::string name = names.empty() ? number : concat(number, ' ', names[static_cast<size_t>(scored.number)]);
      rows.push_back({request.nameOf(result.images[static_cast<size_t>(row)]), name, fixed(scored.score, 4)});
    }
  }
  constexpr size_t textColumns = 2;
  printTable(rows, textColumns);
  std::cout << rateText(request, result) << '\n';
}

}  // namespace

int predictCommand(Arguments arguments) {
  if (asksForHelp(arguments)) {
    std::cout << helpText("predict", catalogNames());
    return 0;
  }
  InferenceRequest request = inferenceRequest("predict", DataSplit::test, arguments);
  Config& config = request.plan.config;
  const std::vector<std::string> names = classNames(config);
  installCpuAllocator();
  const Graph& graph = *request.plan.graph;
  if (config.inference.scores == Config().inference.scores) config.inference.scores = scoresOfHead(graph);
  const InferenceResult result = infer(request, graph, readPretrained(config, graph));
  const at::Tensor shownAs = find(scores(), config.inference.scores, "--scores").of(result.outputs);
  if (config.inference.json) {
    std::cout << toJson(request, result, shownAs, names).dump(2, ' ', false, ordered_json::error_handler_t::replace)
              << '\n';
  } else if (!config.input.data.empty()) {
    printAccuracy(request, result);
  } else {
    print(request, result, shownAs, names);
  }
  return 0;
}

}  // namespace tandem
