#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "graph/graph.h"

namespace tandem {

/// Options of a model. buildModel() takes 0 and negative values as the model's own default. A row's `build` gets
/// resolved classes and imageSize.
struct ModelOptions {
  int64_t classes = 0;    ///< 0: the model's own default
  int64_t imageSize = 0;  ///< height and width; 0: the model's own default
  /// Probability of every dropout node; 0 also turns stochastic depth off; negative: the model's own.
  double dropout = -1;
  const TaskLoss* loss = nullptr;  ///< row of taskLosses() with a head; null: the model's own
};

/// A row of the model zoo. `parameters` and `forwardFlops` hold for default input and classes, with auxiliary heads. A
/// test checks both.
struct ModelEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view source;  ///< paper or project that defines it
  ImageShape input;
  int64_t classes;
  int64_t parameters;
  double forwardFlops;
  int64_t batch;                                           ///< default of `tandem bench`, sized for a few CPU cores
  double learningRate;                                     ///< for SGD with momentum at that batch
  Graph (*build)(const ModelEntry&, const ModelOptions&);  ///< called by buildModel()
};

/// The model zoo.
std::span<const ModelEntry> models();

/// Defaults of a model.
struct ModelFacts {
  std::string name;  ///< for a network file, the name that it gives
  ImageShape input;
  int64_t classes = 0, batch = 0;
  double learningRate = 0;
  std::string sha256;  ///< SHA-256 of the bytes of the network's file; empty for a row of the zoo
};

/// `model` is the name of a row, or the path of a network file or a model of ONNX (isNetworkPath()). Throws UsageError
/// for an unknown name and DataError for a bad file.
ModelFacts modelFacts(std::string_view model);

/// The network file of a row of the zoo, or the standard form of a network file. Throws like modelFacts().
std::string modelText(std::string_view model);

/// Builds a model by name or from a file. Throws UsageError for an unknown name and for options out of range:
/// classes 1 to 10,000,000, images 1 to 32,768 pixels wide. Throws UsageError for too few classes for the loss, a loss
/// that the network cannot have, and images too small for the network. Throws DataError for a bad network file.
Graph buildModel(std::string_view model, const ModelOptions& options);

}  // namespace tandem
