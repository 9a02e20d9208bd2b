#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tandem {

/// One complete configuration: one point of a sweep, and what is wanted of the whole run. Every field has exactly one
/// row in the option table (config/option.h), which holds its name, unit, help, default text and rule.
struct Config {
  static constexpr int64_t largestBatch = 1'000'000;
  static constexpr std::string_view automatic = "auto";  ///< of options whose value is found out later
  static constexpr int64_t mostThatFits = -1;  ///< of batch: typed as "max", found by trying (run/child/largest_fit.h)

  // what is trained
  std::string model = "resnet50";
  int64_t classes = 0;          // 0: the data's or the model's own
  std::string head{automatic};  // a loss, by its head; "14xsigmoid" gives the classes too; auto: the model's
  int64_t imageSize = 0;        // 0: the model's own
  std::string precision = "fp32";
  std::string layout{automatic};       // auto: the faster of nhwc and blocked, as measured; nhwc where only that runs
  std::string convolution{automatic};  // auto: for each convolution's pass the fastest, as measured
  std::string padImages{automatic};  // auto: with which channels of zeros a GPU is fastest, as measured; none on a CPU
  std::string executor = "planned";
  std::string recompute = "none";    // activations that backward computes again instead of finding them kept
  std::string cudaGraph{automatic};  // a step as CUDA graphs; auto: wherever it can be recorded
  int64_t inFlight = 2;              // steps that a GPU was given and has not done

  // weights that somebody trained
  std::string weights;  // file, empty: initial values by seed
  std::string weightsMap = "none";
  bool resetHead = false;
  bool rejectNonfinite = false;
  std::string saveWeights;  // file, empty: none

  // images that a network looks at
  int64_t resize = 0;  // 0: 256/224 of imageSize
  std::string normalization = "imagenet";
  std::string badImage = "fail";
  int64_t top = 5;                // 0: all classes
  std::string scores{automatic};  // auto: what the head is, or logits
  std::string classNames;         // file, empty: numbers only
  bool json = false;

  // on what
  std::string devices = "cpu";  // "cpu" or "cuda:0+1"
  int64_t replicas = 1;
  int64_t coresPerReplica = 0;  // 0: usable cores / largest --replicas of the sweep
  bool oversubscribe = false;

  // how gradients become one update
  std::string strategy = "replicated";
  std::string parameterDevice = "cpu";
  std::string allReduce{automatic};  // auto: "owner" on the CPU, "nccl" on GPUs
  double bucketMib = 4;
  std::string overlap = "on";  // off: gradients are exchanged when backward has ended
  std::string lossAt = "replica";

  // input
  std::string input{automatic};  // auto: "queue" with --data, else "device"
  std::string data;              // folder of a data set, empty: synthetic
  std::string augment = "standard";
  int64_t producers = 1;   // threads per replica that make batches, input=queue
  int64_t queueDepth = 4;  // batches per replica

  // training step
  int64_t batch = 0;        // images per replica; 0: the model's own; mostThatFits: not known yet
  int64_t accumulate = 1;   // parts of a replica's batch
  double learningRate = 0;  // 0: the model's own, or the optimizer's
  std::string schedule = "constant";
  std::string optimizer = "sgd";
  double momentum = 0.9;
  bool nesterov = false;
  double adamBeta1 = 0.9;
  double adamBeta2 = 0.999;
  double adamEpsilon = 1e-8;
  double weightDecay = 1e-4;
  double labelSmoothing = 0;
  int64_t seed = 1;
  bool forwardOnly = false;
  bool deterministic = false;

  // measurement
  std::string scaling = "weak";
  std::string warmup{automatic};  // or a number of steps
  int64_t steps = 0;              // 0: as many as fit --budget
  double budget = 25;             // seconds of measuring per point when steps is 0
  bool profile = false;

  // of the whole run, never an axis of a sweep
  std::string out = "tandem-results.jsonl";
  std::string format = "table";
  bool compare = false;
  std::string trace;          // file, empty: none
  std::string tensorboard;    // folder, empty: none
  std::string mllog;          // file, "-": standard output, empty: none
  bool measurePeaks = false;  // anew, although the cache has them
  double deadline = 0;        // seconds per point; 0: derived from budget
  bool allowInterference = false;
  bool dryRun = false;

  bool operator==(const Config&) const = default;
};

}  // namespace tandem
