#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tandem {

/// One complete configuration: one point of a sweep plus the options of the whole run. Every field of a group has
/// exactly one row in the option table (config/option.h) with its name, unit, help, default text and rule.
struct Config {
  static constexpr int64_t largestBatch = 1'000'000;
  static constexpr int64_t mostWrongImages = 100;  ///< of an evaluation in a record
  /// Value of options that a measurement or another option decides.
  static constexpr std::string_view automatic = "auto";
  /// Value of `batch` for "max", which a search replaces (run/child/largest_fit.h).
  static constexpr int64_t mostThatFits = -1;
  /// Value of `repeats` for "auto".
  static constexpr int64_t automaticRepeats = 0;
  /// Value of `classWeights` for weights by how often the training images have each class.
  static constexpr std::string_view balanced = "balanced";
  /// Value of `validateOn` for no evaluation.
  static constexpr std::string_view noSplit = "none";
  /// Value of `replicas` for "auto": one on each device of `devices`, and one on "cpu".
  static constexpr int64_t oneOnEachDevice = 0;

  /// What is trained, and the weights that it starts from.
  struct Network {
    std::string model = "resnet50";
    int64_t classes = 0;          ///< 0: the data's or the model's own
    std::string head{automatic};  ///< name of a loss by its head; "14xsigmoid" sets the classes too; auto: the model's
    int64_t imageSize = 0;        ///< 0: the model's own
    std::string weights;          ///< file, empty: initial values by seed
    std::string weightsMap = "none";
    bool resetHead = false;
    bool rejectNonfinite = false;

    bool operator==(const Network&) const = default;
  } network;

  /// How its numbers are held and computed.
  struct Numerics {
    std::string precision = "fp32";
    std::string layout{automatic};  ///< auto: the faster of nhwc and blocked by measurement; nhwc if only that runs
    std::string convolution{
        automatic};              ///< auto: the fastest algorithm for each pass of each convolution, by measurement
    int64_t kernelReplicas = 0;  ///< that compute at once while kernels are measured; 0: the most of the sweep
    double accuracy = 16;        ///< the most by which an algorithm that "auto" takes may be less exact than direct
    std::string padImages{automatic};  ///< auto: the fastest number of channels of zeros on a GPU; none on a CPU
    std::string executor = "planned";
    std::string recompute = "none";    ///< activations that backward recomputes instead of reading them from memory
    std::string cudaGraph{automatic};  ///< whether a step is a CUDA graph; auto: wherever it can be captured
    int64_t inFlight = 2;              ///< number of steps that the host may enqueue ahead of a GPU
    bool deterministic = false;

    bool operator==(const Numerics&) const = default;
  } numerics;

  /// Where it runs.
  struct Placement {
    std::string devices{automatic};  ///< a value of parseDeviceSet(), or auto: GPUs if there are any, else cpu
    int64_t ranks = 1;               ///< processes of the run, with as many replicas each
    int64_t servers = 0;             ///< processes more that only serve variables, strategy=parameter_server
    int64_t replicas = oneOnEachDevice;
    int64_t coresPerReplica = 0;  ///< 0: usable cores / largest --replicas of the sweep
    bool oversubscribe = false;

    bool operator==(const Placement&) const = default;
  } placement;

  /// How replicas exchange gradients and update weights.
  struct Exchange {
    std::string strategy = "replicated";
    std::string parameterDevice = "cpu";
    int64_t serverRanks = 0;          ///< the first so many ranks keep the variables, strategy=parameter_server; 0: all
    std::string serverMode = "sync";  ///< when they are updated, and fetched
    int64_t maxStaleness = 2;         ///< updates that a rank may be ahead of the slowest, serverMode=async
    std::string allReduce{automatic};  ///< auto: "owner" on the CPU, "nccl" on GPUs
    int64_t syncEvery = 8;             ///< steps between two averages of weights, strategy=local_sgd
    double blockMomentum = 0;          ///< of these averages
    std::string compression = "powersgd";
    double compressionRatio = 0.01;            ///< share of the values that topk sends
    int64_t compressionRank = 4;               ///< of powersgd's factors
    int64_t compressionStart = 0;              ///< updates with whole gradients, before
    std::string gradientPrecision{automatic};  ///< type of gradients in the exchange; auto: that of `precision`
    double bucketMib = 4;
    double firstBucketMib = 0;   ///< 0: as bucketMib
    std::string overlap = "on";  ///< off: gradients are exchanged after backward
    std::string lossAt = "replica";
    std::string job;             ///< "worker" or "ps", or with its number; empty: others say what this process is
    int64_t taskIndex = -1;      ///< its number; -1: `job` says it
    std::string workerHosts;     ///< "HOST:PORT,HOST:PORT": of processes with replicas
    std::string psHosts;         ///< of those that only serve
    double timeout = 60;         ///< seconds that a rank waits for the others
    std::string masterAddr;      ///< of rank 0's host; empty: the launcher's
    int64_t masterPort = 0;      ///< of the store where ranks meet; 0: the launcher's
    std::string interface;       ///< network interface between hosts; empty: the launcher's, or loopback
    int64_t checkDrift = 0;      ///< steps between two comparisons of all replicas' weights; 0: ranks' at the end only
    bool syncBatchNorm = false;  ///< batch-norm normalises the batches of all replicas as one
    bool checkCollectives = false;  ///< each collective between ranks is compared before it runs

    bool operator==(const Exchange&) const = default;
  } exchange;

  /// Where batches come from.
  struct Input {
    std::string source{automatic};     ///< auto: "queue" with --data, else "device"
    std::string data;                  ///< folder of a data set, empty: synthetic
    std::string augment{automatic};    ///< auto: "imagenet" for image files, else "standard"
    int64_t producers = 1;             ///< threads per replica that make batches, input=queue
    int64_t queueDepth = 4;            ///< batches per replica
    std::string decode = "exact";      ///< how image files are decoded
    std::string loader = "threads";    ///< what makes batches ahead, input=queue
    double cacheGib = 0;               ///< the most memory for samples that were read, in all processes of the host
    int64_t shuffleBuffer = 0;         ///< images among which the next one is drawn; 0: all
    std::string dataSplit{automatic};  ///< auto: training in bench and features, test in predict
    bool zmqConnect = false;           ///< to the address, instead of waiting there, input=zmq-consume
    std::string zmqKeys;               ///< folder of keys, empty: the connection is plain
    bool insecureZmq = false;          ///< wait without keys where other hosts reach it
    double maxBad = 0.1;               ///< percent of the data set's images that may be bad, unless one ends the run

    bool operator==(const Input&) const = default;
  } input;

  /// The training step.
  struct Step {
    int64_t batch = 0;            ///< images per replica; 0: the model's own; mostThatFits: not known yet
    std::string split = "equal";  ///< shares of the replicas in the global batch (config/split.h)
    int64_t accumulate = 1;       ///< number of micro-batches per step
    double learningRate = 0;      ///< 0: the model's or the optimizer's own
    std::string schedule = "constant";
    std::string optimizer = "sgd";
    double momentum = 0.9;
    bool nesterov = false;
    double adamBeta1 = 0.9;
    double adamBeta2 = 0.999;
    double adamEpsilon = 1e-8;
    double weightDecay = 1e-4;
    std::string loss{automatic};  ///< form of the head's loss (graph/task_loss.h); auto: the head's first
    double bceThreshold = 1;      ///< targets above it become 1 and others 0, loss=bce; 1: targets stay
    double labelSmoothing = 0;
    double mixup = 0, cutmix = 0;  ///< parameters of beta distributions; 0: images are not mixed
    double rmspropDecay = 0.9;
    double trust = 0.001;   ///< of lars: the length of an update, as a share of that of the weights
    double clipNorm = 0;    ///< the most that the length of all gradients may be; 0: any
    double ema = 0;         ///< decay of the average over the updates' weights; 0: there is none
    int64_t lookahead = 0;  ///< updates after which weights go back to an average; 0: they do not
    double lookaheadDecay = 0.5, lookaheadPower = 0;  ///< of this average (kernels/optimizer/weight_average.h)
    double shiftRate = 1;                             ///< factor of the learning rate of normalizations' shifts
    std::string decayed = "all";                      ///< the parameters that weight decay is for
    std::string frozen = "none";                      ///< those that are not trained
    std::string classWeights;  ///< weights of the classes in the loss, "balanced" or a file; empty: 1
    int64_t seed = 1;
    bool forwardOnly = false;
    bool loaderOnly = false;  ///< batches are made and nothing is computed; forwardOnly too, once it is resolved

    bool operator==(const Step&) const = default;
  } step;

  /// The course of a training (`tandem train`) and of its learning rate. A measurement has none.
  struct Training {
    std::string recipe;                 ///< name or file of options that hold where none is typed; empty: none
    double epochs = 0;                  ///< passes over the training images; 0: this is a measurement
    std::string trainSize;              ///< pixels of training images by epoch, "128+160@6"; empty: imageSize
    std::string validateOn{automatic};  ///< split that validation reads; auto: validation, or else test images
    double validateEvery = 1;           ///< epochs between two evaluations; 0: at the end alone
    int64_t evalBatch = 0;              ///< images per replica in evaluations; 0: as in training
    std::string stopAt;                 ///< metric and value that end the training, "accuracy:0.935"; empty: none
    std::string best{automatic};        ///< metric by which the best weights are kept; auto: the head's own
    std::string saveScores;             ///< file for what the last evaluation computed of each image; empty: none
    int64_t wrongImages = 16;           ///< wrong predictions of an evaluation that are kept, the surest; 0: none
    std::string checkpoint;             ///< folder; empty: none
    double saveEvery = 1;               ///< epochs between two checkpoints
    int64_t keep = 2;                   ///< checkpoints in the folder, besides the best weights
    std::string resume = "never";       ///< whether the training goes on from the last checkpoint
    bool allowChanges = false;          ///< though the configuration is another one
    double maxTime = 0;                 ///< seconds; 0: no limit
    std::string onNan = "stop";         ///< what is done when the loss is not finite

    double warmupEpochs = 0;  ///< in which the rate grows to what the schedule begins with
    double warmupFrom = 0;    ///< share of the rate that it grows from
    std::string lrSteps;      ///< epochs at which the rate falls, "30+60+80", for schedule=piecewise
    double lrFactor = 0.1;    ///< by which it falls, for piecewise and plateau
    double lrPower = 1;       ///< of polynomial
    double lrEnd = 0;         ///< share of the rate at the end of cosine, polynomial and one-cycle
    int64_t patience = 5;     ///< evaluations without an improvement before the rate falls, for plateau
    std::string lrScaling = "none";
    int64_t lrBatch = 256;    ///< global batch that the rate given is for, with lrScaling
    double whitenEpochs = 0;  ///< in which the bias of a whitening convolution is trained; 0: all

    bool operator==(const Training&) const = default;
  } training;

  /// Images for inference, and what is shown of its results.
  struct Inference {
    int64_t resize = 0;  ///< 0: 256/224 of imageSize
    std::string interpolation = "bilinear";
    std::string normalization{automatic};  ///< auto: the data set's own, of image files that of ImageNet
    std::string views = "none";            ///< of an image, whose outputs are averaged
    std::string badImage = "fail";
    int64_t top = 5;                ///< 0: all classes
    std::string scores{automatic};  ///< auto: by the head, or logits
    std::string classNames;         ///< file, empty: class numbers only
    bool json = false;

    bool operator==(const Inference&) const = default;
  } inference;

  /// How a point is measured.
  struct Measurement {
    std::string scaling = "weak";
    std::string warmup{automatic};       ///< auto, or a number of steps
    int64_t steps = 0;                   ///< 0: as many as fit into the budget
    double budget = 25;                  ///< seconds of measuring per point if steps is 0
    int64_t repeats = automaticRepeats;  ///< runs of the point
    bool profile = false;
    bool compare = false;
    std::string verify{automatic};  ///< whether the first steps are compared with one replica in fp64
    double deadline = 0;            ///< seconds per point; 0: derived from budget
    bool measurePeaks = false;      ///< measures them again although the cache has them
    bool refreshKernels = false;    ///< likewise the times by which kernels are chosen
    double kernelSeconds = 20;      ///< that a choice of kernels may measure, whatever it saves
    bool allowInterference = false;
    std::string inject;              ///< a fault that is put into the run (trace/fault.h); empty: none
    std::string program = "tandem";  ///< what was measured; another program with its version in records of bench/peers

    bool operator==(const Measurement&) const = default;
  } measurement;

  /// Where results go. Never an axis of a sweep.
  struct Output {
    std::string out = "tandem-results.jsonl";
    std::string format = "table";
    std::string saveWeights;  ///< file, empty: none
    std::string trace;        ///< file, empty: none
    std::string tensorboard;  ///< folder, empty: none
    std::string mllog;        ///< file, "-": standard output, empty: none
    std::string page;         ///< file, empty: none
    bool dryRun = false;

    bool operator==(const Output&) const = default;
  } output;

  bool operator==(const Config&) const = default;
};

}  // namespace tandem
