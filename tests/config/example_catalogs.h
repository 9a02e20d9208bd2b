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
      {"model",
       {"resnet20", "resnet50", "resnet56", "inception_v3", "inception_v4", "vgg16", "trivial", "resnet50_v1",
        "resnet101", "resnet152", "lenet5", "mobilenet_v2", "nasnet_mobile", "nasnet_large", "alexnet", "alexnet_cifar",
        "densenet121"},
       "models"},
      {"strategy", {"replicated", "parameter_server", "local_sgd", "compressed", "independent"}},
      {"server-mode", {"sync", "async", "staged"}},
      {"executor", {"autograd", "planned"}},
      {"precision", {"fp32", "bf16", "fp16", "tf32"}},
      {"gradient-precision", {"fp32", "bf16", "fp16"}},
      {"input", {"device", "host", "queue", "python-queue", "python-dataset", "zmq-consume"}},
      {"all-reduce", {"owner", "shared", "copy", "ring", "tree", "halving_doubling", "hierarchical", "nccl"}},
      {"compression", {"powersgd", "onebit", "topk"}},
      {"recompute", {"none", "norm", "segments"}},
      {"layout", {"nhwc", "nchw"}},
      {"convolution", {"direct", "winograd", "gemm", "packed", "pointwise"}},
      {"pad-images", {"none", "4", "8"}},
      {"cuda-graph", {"auto", "on", "off"}},
      {"overlap", {"on", "off"}},
      {"verify", {"auto", "on", "off"}},
      {"scaling", {"weak", "strong"}},
      {"augment", {"none", "standard"}},
      {"schedule", {"constant", "cosine", "warmup-cosine", "piecewise", "polynomial", "one-cycle", "plateau"}},
      {"optimizer", {"sgd", "adam", "adamw", "rmsprop", "lars", "lamb"}},
      {"format", {"table", "md", "csv", "json"}},
      {"loss-at", {"replica", "gathered"}},
      {"loss", {"cross_entropy", "bce"}},
      {"weights-map", {"none", "torchvision", "keras", "timm"}},
      {"interpolation", {"bilinear", "bicubic"}},
      {"normalization", {"imagenet", "caffe"}},
      {"bad-image", {"fail", "skip"}},
      {"views", {"none", "mirror"}},
      {"decode", {"exact", "fast"}},
      {"loader", {"threads", "processes"}},
      {"data-split", {"training", "validation", "test"}},
      {"scores", {"softmax", "sigmoid", "logits"}},
      {"validate-on", {"training", "validation", "test", "none"}},
      {"best", {"accuracy", "top5", "auc", "loss"}},
      {"lr-scaling", {"none", "linear", "sqrt"}},
      {"decayed", {"all", "weights"}},
      {"frozen", {"none", "body"}},
      {"resume", {"never", "auto", "always"}},
      {"on-nan", {"stop", "back"}},
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
  if (option.values != Values::any) {
    for (const std::string& name : validValues(option, exampleCatalogs())) {
      if (name != standard) return name;
    }
  }
  if (takes<bool>(option)) return "true";
  if (takes<int64_t>(option)) return "33";
  if (option.name == "accuracy") return "8";
  if (takes<double>(option)) return "0.25";
  if (option.name == "devices") return "cuda:0+3";
  if (option.name == "save-weights") return "a.safetensors";
  if (option.name == "trace") return "a.pftrace";
  if (option.name == "inject") return "rank=1,phase=data,kind=abort";
  if (option.name == "page") return "a.html";
  if (option.name == "parameter-device") return "cpu:1";
  if (option.name == "head") return "sigmoid";
  if (option.name == "save-scores") return "a.safetensors";
  if (option.name == "stop-at") return "loss:0.5";
  if (option.name == "lr-steps") return "30+60";
  return "77";
}

}  // namespace tandem
