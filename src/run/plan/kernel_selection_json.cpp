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

}  // namespace

std::string toText(const KernelSelection& kernels) {
  check(kernels.engines.empty() && kernels.norms.empty(), "kernels of a CPU go to other ranks");
  json algorithms = json::array();
  for (const PassAlgorithms& passes : kernels.algorithms) algorithms.push_back(namesOf(passes));
  return json{{"layout", kernels.layout.name},
              {"algorithms", algorithms},
              {"notes", kernels.notes},
              {"details", kernels.details},
              {"zeros", kernels.zeroChannels}}
      .dump();
}

KernelSelection kernelSelectionFromText(const std::string& text) {
  try {
    const json object = json::parse(text);
    KernelSelection kernels{.layout = find(layouts(), object.at("layout").get<std::string>(), "--layout"),
                            .notes = object.at("notes"),
                            .details = object.at("details"),
                            .zeroChannels = object.at("zeros")};
    for (const json& names : object.at("algorithms")) kernels.algorithms.push_back(algorithmsFrom(names));
    return kernels;
  } catch (const std::exception& failure) {
    throw PeerError(concat("rank 0 names kernels that this rank cannot run: ", failure.what(),
                           "; start the same program on all ranks"));
  }
}

}  // namespace tandem
