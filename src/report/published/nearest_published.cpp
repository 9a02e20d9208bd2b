#include "report/published/nearest_published.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <tuple>

#include "base/text.h"
#include "config/device_set.h"
#include "config/option.h"
#include "measure/metrics/metric.h"

namespace tandem {
namespace {

constexpr std::array<std::string_view, 5> variants{"ti", "super", "mobile", "laptop", "max-q"};
constexpr double unknownBatch = 8;  // distance of an unknown batch, in doublings

std::string factOf(const Facts& figure, std::string_view name) {
  const auto found = figure.find(name);
  return found == figure.end() ? "" : found->second;
}

double numberOf(const Facts& figure, std::string_view name) {
  return std::strtod(factOf(figure, name).c_str(), nullptr);
}

std::vector<std::string> wordsOf(const std::string& device) {
  std::vector<std::string> words = split(lowered(device), " -_()/,");
  std::erase(words, "");
  return words;
}

bool hasDigit(const std::string& word) {
  return std::ranges::any_of(word, [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// True for "2x".
bool isCount(const std::string& word) {
  return word.size() > 1 && word.back() == 'x' &&
         std::all_of(word.begin(), word.end() - 1, [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool isOneOf(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

/// True if each word of the published name begins a word of the device's. Then the published name claims nothing that
/// the device is not.
bool saysTheSame(const std::string& name, const std::string& published) {
  const auto words = wordsOf(name);
  return std::ranges::all_of(wordsOf(published), [&](const std::string& part) {
    return isCount(part) || std::ranges::any_of(words, [&](const std::string& word) { return word.starts_with(part); });
  });
}

/// "resnet50" for "resnet50_v1.5": the version of a residual network is a difference, not another family.
std::string familyOf(const std::string& model) {
  const size_t version = model.find("_v");
  return model.starts_with("resnet") && version != std::string::npos ? model.substr(0, version) : model;
}

/// Name of the model in the zoo.
std::string ownName(const std::string& model) {
  for (const Alias& alias : aliases()) {
    const bool always = alias.with.name.empty() && !alias.optionValue.empty();
    if (always && alias.name == "model" && alias.value == lowered(model)) return std::string(alias.optionValue);
  }
  return model;
}

/// Whether the versions agree. ResNets of the zoo without a version in their name are called v1.5 elsewhere.
bool isSameVersion(const std::string& own, const std::string& published) {
  return own == published || own + "_v1.5" == published;
}

/// The facts of a run in the terms of published figures.
struct Described {
  std::string model, precision, layout, input, strategy, device;
  double devices, batch;
};

Described described(const RunRecord& record) {
  const Config& config = record.config;
  const auto replicas = static_cast<double>(totalReplicas(config));
  const double devices = isOnCpu(config) ? 1 : replicas;
  const std::string layout = record.placement.layout.empty() ? config.numerics.layout : record.placement.layout;
  return {config.network.model,
          config.numerics.precision,
          layout,
          config.input.data.empty() ? "synthetic " + config.input.source : "real " + config.input.source,
          config.exchange.strategy,
          deviceOf(record),
          devices,
          static_cast<double>(record.globalBatch) / devices};
}

bool is16Bit(const std::string& precision) { return precision.find("16") != std::string::npos; }

/// 0: the same; 1: of the same width; 2: of another width.
int precisionDistance(const std::string& own, const std::string& published) {
  if (own == published) return 0;
  return is16Bit(own) == is16Bit(published) ? 1 : 2;
}

double doublings(double a, double b) { return a > 0 && b > 0 ? std::abs(std::log2(a / b)) : unknownBatch; }

bool isSameInput(const std::string& own, const std::string& published) {
  return own == published || (published == "synthetic" && own.starts_with("synthetic"));
}

double devicesOf(const Facts& figure) { return std::max(1.0, numberOf(figure, "devices")); }

/// Sorts figures: smaller is nearer.
auto distance(const Described& run, const Facts& figure) {
  return std::tuple(doublings(run.devices, devicesOf(figure)),
                    precisionDistance(run.precision, factOf(figure, "precision")),
                    doublings(run.batch, numberOf(figure, "batch_per_device")), run.layout != factOf(figure, "layout"),
                    !isSameInput(run.input, factOf(figure, "data")), run.strategy != factOf(figure, "strategy"),
                    -numberOf(figure, "year"), -numberOf(figure, measureColumns().front()));
}

std::string numberText(double number) { return fixed(number, number == std::round(number) ? 0 : 1); }

std::vector<std::string> differencesOf(const Described& run, const Facts& figure) {
  std::vector<std::string> found;
  const auto add = [&](const char* what, const std::string& own, const std::string& other) {
    found.push_back(concat(what, ' ', own.empty() ? "unknown" : own, '/', other.empty() ? "unknown" : other));
  };
  const double batch = numberOf(figure, "batch_per_device");
  const std::string model = factOf(figure, "model"), precision = factOf(figure, "precision"),
                    layout = factOf(figure, "layout"), input = factOf(figure, "data"),
                    strategy = factOf(figure, "strategy"), device = factOf(figure, "device");
  if (run.devices != devicesOf(figure)) add("devices", numberText(run.devices), numberText(devicesOf(figure)));
  if (!saysTheSame(run.device, device)) add("device", run.device, device);
  if (!isSameVersion(run.model, ownName(model))) add("model", run.model, model);
  if (run.precision != precision) add("precision", run.precision, precision);
  if (run.batch != batch) add("batch", numberText(run.batch), batch > 0 ? numberText(batch) : "");
  if (run.layout != layout) add("layout", run.layout, layout);
  if (!isSameInput(run.input, input)) add("input", run.input, input);
  if (run.devices * devicesOf(figure) > 1 && run.strategy != strategy) add("strategy", run.strategy, strategy);
  return found;
}

}  // namespace

bool isDevice(const std::string& name, const std::string& published) {
  const auto words = wordsOf(name), wanted = wordsOf(published);
  const auto model =
      std::ranges::find_if(wanted, [](const std::string& word) { return hasDigit(word) && !isCount(word); });
  if (model == wanted.end() || !isOneOf(words, *model)) return false;
  return std::ranges::all_of(
      variants, [&](std::string_view variant) { return isOneOf(words, variant) == isOneOf(wanted, variant); });
}

std::string deviceOf(const RunRecord& record) {
  if (isOnCpu(record.config)) return record.environment.cpu;
  if (record.placement.replicas.empty()) return "";
  const std::string& label = record.placement.replicas.front();  // "cuda:0 NVIDIA H200"
  const size_t blank = label.find(' ');
  return blank == std::string::npos ? "" : label.substr(blank + 1);
}

const NearestPublished::Fitting& NearestPublished::fitting(const std::string& device, const std::string& model) {
  const auto [place, isNew] = known_.try_emplace({device, model});
  if (!isNew) return place->second;
  for (const Facts& figure : figures_.rows) {
    if (numberOf(figure, measureColumns().front()) > 0 && isDevice(device, factOf(figure, "device")) &&
        familyOf(ownName(factOf(figure, "model"))) == familyOf(model)) {
      place->second.push_back(&figure);
    }
  }
  return place->second;
}

std::optional<PublishedMatch> NearestPublished::of(const RunRecord& record) {
  const auto rate = metric("images_per_s").of(record, nullptr);
  const int64_t own = record.placement.ownImageSize;
  if (!rate || record.config.step.forwardOnly || own == 0 || record.config.network.imageSize != own) return {};
  const Described run = described(record);
  const Fitting& fitting = this->fitting(run.device, run.model);
  const auto found = std::ranges::min_element(fitting, {}, [&](const Facts* figure) { return distance(run, *figure); });
  if (found == fitting.end()) return {};
  const Facts* const nearest = *found;
  PublishedMatch match{
      *nearest, numberOf(*nearest, measureColumns().front()), run.devices != devicesOf(*nearest), 0, {}};
  if (match.perDevice) match.imagesPerSecond /= devicesOf(*nearest);
  match.percent = 100 * *rate / (match.perDevice ? run.devices : 1) / match.imagesPerSecond;
  match.differences = differencesOf(run, *nearest);
  return match;
}

}  // namespace tandem
