#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "config/option.h"

namespace tandem {

/// Catalogs as cli hands them in, smaller.
inline const CatalogNames& exampleCatalogs() {
  static const CatalogNames names{{
      {Choices::models, {"resnet20", "resnet50", "resnet56", "inception_v3", "inception_v4", "vgg16", "trivial"}},
      {Choices::strategies, {"replicated", "parameter_server", "independent"}},
      {Choices::executors, {"autograd", "planned"}},
      {Choices::precisions, {"fp32", "bf16", "fp16", "tf32"}},
      {Choices::inputs, {"device", "host", "queue"}},
      {Choices::allReduces, {"owner", "shared", "copy", "ring", "tree", "nccl"}},
      {Choices::recomputes, {"none", "norm", "segments"}},
      {Choices::layouts, {"nhwc", "nchw"}},
      {Choices::convolutions, {"direct", "winograd", "gemm", "packed", "pointwise"}},
      {Choices::imagePaddings, {"none", "4", "8"}},
      {Choices::cudaGraphs, {"auto", "on", "off"}},
      {Choices::overlaps, {"on", "off"}},
      {Choices::scalings, {"weak", "strong"}},
      {Choices::augments, {"none", "standard"}},
      {Choices::schedules, {"constant", "cosine", "warmup-cosine"}},
      {Choices::optimizers, {"sgd", "adam", "adamw"}},
      {Choices::formats, {"table", "md", "csv", "json"}},
      {Choices::lossPlacements, {"replica", "gathered"}},
      {Choices::weightsMaps, {"none", "keras", "timm"}},
      {Choices::normalizations, {"imagenet", "caffe"}},
      {Choices::badImages, {"fail", "skip"}},
      {Choices::scores, {"softmax", "sigmoid", "logits"}},
  }};
  return names;
}

/// What a call throws as UsageError, or "accepted".
template <class Call>
std::string usageErrorOf(Call call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

/// The rows that a command takes.
inline std::vector<Option> optionsOf(unsigned command) {
  std::vector<Option> taken;
  for (const Option& option : options()) {
    if ((option.commands & command) != 0) taken.push_back(option);
  }
  return taken;
}

/// A value of the option that is valid and not the default.
inline std::string otherValue(const Option& option) {
  const std::string standard = valueText(Config(), option);
  if (option.choices != Choices::any) {
    for (const std::string& name : validValues(option, exampleCatalogs())) {
      if (name != standard) return name;
    }
  }
  if (std::holds_alternative<bool Config::*>(option.field)) return "true";
  if (std::holds_alternative<int64_t Config::*>(option.field)) return "33";
  if (std::holds_alternative<double Config::*>(option.field)) return "0.25";
  if (option.name == "devices") return "cuda:0+3";
  if (option.name == "save-weights") return "a.safetensors";
  if (option.name == "trace") return "a.pftrace";
  if (option.name == "parameter-device") return "cpu:1";
  if (option.name == "head") return "sigmoid";
  return "77";
}

}  // namespace tandem
