#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "graph/graph.h"

namespace tandem {

/// What a caller may change about a model. In buildModel() 0 and negative mean the model's own default; a row's `build`
/// gets classes and imageSize resolved.
struct ModelOptions {
  int64_t classes = 0;    ///< 0: the model's own default
  int64_t imageSize = 0;  ///< height and width; 0: the model's own default
  double dropout = -1;  ///< probability of every dropout node, 0: no stochastic depth either; negative: the model's own
  const TaskLoss* loss = nullptr;  ///< row of taskLosses() with a head; null: the model's own
};

/// A row of the model zoo. `parameters` and `forwardFlops` are for the default input and classes, with
/// auxiliary heads; a test asserts both.
struct ModelEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view source;  ///< paper or project that defines it
  ImageShape input;
  int64_t classes;
  int64_t parameters;
  double forwardFlops;
  int64_t batch;        ///< of `tandem bench` when none is given, sized for a few CPU cores
  double learningRate;  ///< of SGD with momentum at that batch
  Graph (*build)(const ModelEntry&, const ModelOptions&);  ///< called by buildModel()
};

/// The model zoo.
std::span<const ModelEntry> models();

/// What a model has of its own where nobody says otherwise.
struct ModelFacts {
  std::string name;  ///< of a network file what it says
  ImageShape input;
  int64_t classes = 0, batch = 0;
  double learningRate = 0;
  std::string sha256;  ///< of a network file's bytes; empty for a row of the zoo
};

/// `model` is the name of a row or the path of a network file (isNetworkPath()). Throws UsageError for an unknown name,
/// DataError for a bad file.
ModelFacts modelFacts(std::string_view model);

/// The network file of a row of the zoo, or of a file in its standard form. Throws as modelFacts().
std::string modelText(std::string_view model);

/// Builds a model by name or from a network file (DataError for a bad one). Throws UsageError for an unknown name,
/// options out of range (classes 1 to 10,000,000, images 1 to 32,768 pixels wide), too few classes for the loss, a loss
/// that the network cannot have, or images too small for the network.
Graph buildModel(std::string_view model, const ModelOptions& options);

}  // namespace tandem
