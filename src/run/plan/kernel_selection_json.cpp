#include "run/plan/kernel_selection_json.h"

#include <nlohmann/json.hpp>

#include "base/catalog.h"
#include "base/error.h"
#include "base/text.h"

namespace tandem {
namespace {

using nlohmann::json;

constexpr const char* byDefault = "";  // a pass without an algorithm of its own

json namesOf(const PassAlgorithms& passes) {
  json names = json::array();
  for (const ConvolutionAlgorithm* algorithm : passes) {
    names.push_back(algorithm == nullptr ? byDefault : std::string(algorithm->name));
  }
  return names;
}

PassAlgorithms algorithmsFrom(const json& names) {
  PassAlgorithms passes{};
  for (size_t pass = 0; pass < passes.size(); ++pass) {
    const auto name = names.at(pass).get<std::string>();
    if (name != byDefault) passes[pass] = &find(convolutionAlgorithms(), name, "--convolution");
  }
  return passes;
}

json toJson(const PassPlans& plans) {
  return {{"images", plans.images}, {"names", plans.names}, {"with_stats", plans.withStats}};
}

PassPlans passPlansFrom(const json& object) {
  return {.images = object.at("images"), .names = object.at("names"), .withStats = object.at("with_stats")};
}

json toJson(const NormPlans& plans) {
  return {{"images", plans.images}, {"forward", plans.forward}, {"backward", plans.backward}};
}

NormPlans normPlansFrom(const json& object) {
  return {.images = object.at("images"), .forward = object.at("forward"), .backward = object.at("backward")};
}

template <class Plans>
json listOf(const std::vector<Plans>& all) {
  json list = json::array();
  for (const Plans& plans : all) list.push_back(toJson(plans));
  return list;
}

}  // namespace

std::string toText(const KernelSelection& kernels) {
  json algorithms = json::array();
  for (const PassAlgorithms& passes : kernels.algorithms) algorithms.push_back(namesOf(passes));
  json object{{"layout", kernels.layout.name}, {"algorithms", algorithms}, {"zeros", kernels.zeroChannels}};
  object["notes"] = kernels.notes, object["details"] = kernels.details;
  object["engines"] = listOf(kernels.engines), object["norms"] = listOf(kernels.norms);
  return object.dump();
}

KernelSelection kernelSelectionFromText(const std::string& text) {
  try {
    const json object = json::parse(text);
    KernelSelection kernels{.layout = find(layouts(), object.at("layout").get<std::string>(), "--layout"),
                            .notes = object.at("notes"),
                            .details = object.at("details"),
                            .zeroChannels = object.at("zeros")};
    for (const json& names : object.at("algorithms")) kernels.algorithms.push_back(algorithmsFrom(names));
    for (const json& plans : object.at("engines")) kernels.engines.push_back(passPlansFrom(plans));
    for (const json& plans : object.at("norms")) kernels.norms.push_back(normPlansFrom(plans));
    return kernels;
  } catch (const std::exception& failure) {
    throw PeerError(concat("rank 0 names kernels that this rank cannot run: ", failure.what(),
                           "; start the same program on all ranks"));
  }
}

}  // namespace tandem
