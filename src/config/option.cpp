#include "config/option.h"

#include "config/option_rules.h"

namespace tandem {
namespace {

using namespace rules;
using Network = Config::Network;
using Numerics = Config::Numerics;
using Placement = Config::Placement;
using Exchange = Config::Exchange;
using Input = Config::Input;
using Step = Config::Step;
using Inference = Config::Inference;
using Measurement = Config::Measurement;
using Output = Config::Output;

constexpr std::string_view trained = "What is trained", from = "Weights", seen = "Images and predictions",
                           on = "Devices", exchange = "Exchange of gradients", fed = "Input", step = "Training step",
                           measured = "Measurement", output = "Output";
constexpr int64_t million = 1'000'000, billion = 1'000'000'000;
constexpr Variation oneValue = Variation::none, measuring = Variation::measuring, axis = Variation::way,
                    rounding = Variation::rounding, results = Variation::result, work = Variation::work;

/// The row of an option that --help of these commands shows first.
constexpr Option often(unsigned commands, Option option) {
  option.mostUsedOn = commands;
  return option;
}

constexpr Option table[] = {
    // clang-format off
    often(onBench | onImages, {"model", trained, "", "NAME", "the network: a name, or the path of a network file, NAME.json",
     onBench | onImages, field<&Network::model>, Values::namesOrFile, work, nullptr, {}, {}, FileUse::read}),
    {"classes", trained, "", "N", "classes of the network; 0 takes those of the data, or the model's own",
     onBench | onImages, field<&Network::classes>, Values::any, work, within<&Network::classes, 0, mostClasses>},
    {"head", trained, "", "[N]xKIND",
     "what the outputs mean and with it the loss: softmax (one class per image) or sigmoid (any of them, each by itself); "
     "14xsigmoid gives the classes too; auto is the model's own", onBench | onImages, field<&Network::head>, Values::any, work, head},
    {"image-size", trained, "pixels", "N", "height and width of an input image; 0 takes the model's own",
     onBench | onImages, field<&Network::imageSize>, Values::any, work, zeroOrWithin<&Network::imageSize, 8, 16384>},
    often(onBench, {"precision", trained, "", "NAME", "type of activations and of the weights that kernels read",
     onBench | onImages, field<&Numerics::precision>, Values::names, rounding, nullptr}),
    {"layout", trained, "", "NAME",
     "memory order of activations; auto measures on a CPU whether nhwc or blocked is faster, and is nhwc elsewhere", onBench | onImages,
     field<&Numerics::layout>, Values::names, axis, nullptr},
    {"convolution", trained, "", "NAME",
     "algorithm of the planned executor's convolutions on a CPU; auto measures for each pass of each which is fastest, "
     "on a GPU among ATen's and cuDNN's engines; direct is ATen's there",
     onBench | onImages, field<&Numerics::convolution>, Values::names, axis, nullptr},
    {"kernel-replicas", trained, "", "N",
     "replicas that compute at once while kernels are measured on a CPU; 0 takes the most of the sweep with as many threads, "
     "so that its points run the same kernels", onBench, field<&Numerics::kernelReplicas>, Values::any, oneValue,
     within<&Numerics::kernelReplicas, 0, 4096>},
    {"accuracy", trained, "", "X",
     "what --convolution=auto may take on a CPU: algorithms with at most X times the rounding error of direct, measured "
     "for each pass of each convolution", onBench | onImages, field<&Numerics::accuracy>, Values::any, axis,
     atLeastOne<&Numerics::accuracy>},
    {"pad-images", trained, "", "NAME",
     "channels of zeros behind an image's own, up to a multiple, for the first convolution of the planned executor; auto "
     "measures on a GPU which is fastest, and is none on a CPU", onBench | onImages, field<&Numerics::padImages>,
     Values::names, axis, nullptr},
    {"executor", trained, "", "NAME", "what runs the network forward and backward", onBench | onImages, field<&Numerics::executor>,
     Values::names, axis, nullptr},
    {"recompute", trained, "", "NAME",
     "activations that backward recomputes instead of keeping them (checkpointing): less memory, more time, the same gradients", onBench,
     field<&Numerics::recompute>, Values::names, axis, nullptr},
    {"cuda-graph", trained, "", "NAME",
     "capture the step once and launch it as a CUDA graph, or as several with the exchange on the host between them; "
     "auto captures wherever it can", onBench,
     field<&Numerics::cudaGraph>, Values::names, axis, nullptr},
    {"in-flight", trained, "steps", "N",
     "steps that the host may enqueue ahead of a GPU", onBench, field<&Numerics::inFlight>,
     Values::any, axis, within<&Numerics::inFlight, 1, 1024>},

    often(onImages, {"weights", from, "", "FILE", "trained weights to start from: safetensors, or a state dict of torch.save (.pth)",
     onBench | onImages, field<&Network::weights>, Values::any, axis, nullptr, {}, {}, FileUse::read}),
    {"weights-map", from, "", "NAME", "whose names and memory orders the file of --weights has", onBench | onImages,
     field<&Network::weightsMap>, Values::names, axis, nullptr},
    {"reset-head", from, "", "", "keep the initial values of the classifier, whatever --weights says of it", onBench,
     field<&Network::resetHead>, Values::any, axis, nullptr},
    {"reject-nonfinite", from, "", "", "refuse weights with values that are not finite, instead of a warning",
     onBench | onImages, field<&Network::rejectNonfinite>, Values::any, axis, nullptr},
    {"save-weights", from, "", "FILE", "where the weights go after the last step, as safetensors", onBench,
     field<&Output::saveWeights>, Values::any, oneValue, saveWeights, {}, {}, FileUse::replaced},

    {"resize", seen, "pixels", "N", "shorter side of an image before the centre crop; 0 takes 256/224 of --image-size",
     onImages, field<&Inference::resize>, Values::any, oneValue, zeroOrWithin<&Inference::resize, 8, 16384>},
    {"normalization", seen, "", "NAME",
     "mean and deviation by which pixels are normalised; auto is those of the training images, for image files those of "
     "ImageNet", onBench | onImages, field<&Inference::normalization>, Values::names, oneValue, nullptr},
    {"bad-image", seen, "", "NAME",
     "what becomes of an image that cannot be read: it ends the run, is left out (in training the next one takes its place), "
     "or is black", onBench | onImages, field<&Inference::badImage>, Values::names, oneValue, nullptr},
    often(onPredict, {"top", seen, "classes", "N", "classes shown of each image, the best first; 0 shows all", onPredict, field<&Inference::top>,
     Values::any, oneValue, within<&Inference::top, 0, million>}),
    {"scores", seen, "", "NAME", "what outputs are shown as; auto is what the head says", onPredict, field<&Inference::scores>, Values::names, oneValue,
     nullptr},
    often(onPredict, {"class-names", seen, "", "FILE", "names of the classes, one a line", onPredict, field<&Inference::classNames>, Values::any,
     oneValue, nullptr, {}, {}, FileUse::read}),
    {"json", seen, "", "", "print JSON", onImages, field<&Inference::json>, Values::any, oneValue, nullptr},

    often(onBench, {"devices", on, "", "SET",
     "GPUs as cuda:0+1 or sets of pinned cores as cpu:0+1, one replica each; cpu and cuda mean the first of them; auto "
     "means cuda if this build can use a GPU here and no option on cores is given, else cpu",
     onBench | onImages, field<&Placement::devices>, Values::any, axis, devices}),
    {"ranks", on, "", "N",
     "processes of the run on this host, each with --replicas; gradients go between them by Gloo, or NCCL on GPUs",
     onBench, field<&Placement::ranks>, Values::any, axis, within<&Placement::ranks, 1, 4096>},
    {"servers", on, "", "N",
     "processes more, behind --ranks, that have no replicas and only keep the variables of parameter_server; 0 keeps them "
     "on --ranks (--server-ranks)", onBench, field<&Placement::servers>, Values::any, axis,
     within<&Placement::servers, 0, 4096>},
    often(onBench, {"replicas", on, "", "N|auto",
     "copies of the network, each on its own device and fed its own batches; auto is one on each of --devices: all usable "
     "GPUs, or one replica on cpu; where bench runs several points is at the top of its help", onBench | onImages, field<&Placement::replicas>, Values::any, axis,
     within<&Placement::replicas, 1, 4096>, {}, {"auto", Config::oneOnEachDevice}}),
    {"cores-per-replica", on, "cores", "N",
     "cores of a CPU replica; 0 divides the usable cores by the most CPU devices of any point of the run",
     onBench | onImages, field<&Placement::coresPerReplica>, Values::any, axis, within<&Placement::coresPerReplica, 0, 65536>},
    {"oversubscribe", on, "", "", "let CPU replicas share cores when there are fewer cores than asked for",
     onBench | onImages, field<&Placement::oversubscribe>, Values::any, axis, nullptr},

    often(onBench, {"strategy", exchange, "", "NAME", "how the gradients of all replicas become one update",
     onBench, field<&Exchange::strategy>, Values::names, axis, nullptr}),
    {"parameter-device", exchange, "", "PLACE",
     "where parameter_server keeps the variables, of several ranks those of each: cpu, device (spread over the replicas "
     "by bytes) or one device's name, as cpu:0 or cuda:1; passed over by strategies without a server", onBench, field<&Exchange::parameterDevice>, Values::any, axis, parameterDevice},
    {"server-ranks", exchange, "ranks", "N",
     "the first N ranks keep the variables of parameter_server, shared out by bytes, and update them; 0 takes all ranks; "
     "passed over by strategies without a server", onBench, field<&Exchange::serverRanks>, Values::any, axis,
     within<&Exchange::serverRanks, 0, 4096>},
    {"server-mode", exchange, "", "NAME",
     "when a parameter_server updates, and when replicas get the weights: sync, async or staged; passed over by "
     "strategies without a server", onBench, field<&Exchange::serverMode>, Values::names, results, nullptr},
    {"max-staleness", exchange, "updates", "N",
     "updates that a rank may be ahead of the slowest one, with --server-mode=async; 0 makes them in the order of a "
     "synchronous run; passed over by other modes", onBench, field<&Exchange::maxStaleness>, Values::any, results,
     within<&Exchange::maxStaleness, 0, million>},
    {"all-reduce", exchange, "", "NAME[:SIZE:NAME...]",
     "how replicated sums gradients and updates; auto means owner on the CPU, nccl on GPUs; compressed and local_sgd sum "
     "by it too, but not by owner: there auto means shared on the CPU; passed over by other strategies. Several names with "
     "sizes between them, as tree:32k:ring, sum buckets of up to so many bytes by the first, larger ones by the next",
     onBench, field<&Exchange::allReduce>, Values::namesBySize, axis, nullptr},
    {"sync-every", exchange, "steps", "N",
     "updates that each replica of local_sgd makes alone, before weights are averaged; passed over by other strategies",
     onBench, field<&Exchange::syncEvery>, Values::any, results, within<&Exchange::syncEvery, 1, million>},
    {"block-momentum", exchange, "", "X",
     "momentum of local_sgd over the changes from average to average (BMUF); 0 takes the average itself", onBench,
     field<&Exchange::blockMomentum>, Values::any, results, fraction<&Exchange::blockMomentum>},
    {"compression", exchange, "", "NAME",
     "how compressed makes gradients smaller; what it leaves out is added to the next gradient; passed over by other "
     "strategies", onBench, field<&Exchange::compression>, Values::names, results, nullptr},
    {"compression-ratio", exchange, "", "X", "share of each parameter's values that topk sends", onBench,
     field<&Exchange::compressionRatio>, Values::any, results, share<&Exchange::compressionRatio>},
    {"compression-rank", exchange, "", "N", "rank of powersgd: columns of each of the two factors of a matrix", onBench,
     field<&Exchange::compressionRank>, Values::any, results, within<&Exchange::compressionRank, 1, 1024>},
    {"compression-start", exchange, "updates", "N",
     "compressed exchanges whole gradients in the first N updates, warm-up included: the first gradients suffer most", onBench,
     field<&Exchange::compressionStart>, Values::any, results, within<&Exchange::compressionStart, 0, million>},
    {"gradient-precision", exchange, "", "NAME",
     "type to which gradients are rounded for the exchange, summed in, and widened from for the update; fp16 scales the "
     "loss; auto is the type in which --precision computes them; passed over by local_sgd, compressed and independent", onBench, field<&Exchange::gradientPrecision>,
     Values::names, axis, nullptr},
    {"bucket-mib", exchange, "MiB", "X", "size of the pieces in which gradients are exchanged",
     onBench, field<&Exchange::bucketMib>, Values::any, axis, bucket<&Exchange::bucketMib>},
    {"first-bucket-mib", exchange, "MiB", "X",
     "size of the first of these pieces: the exchange begins the sooner, the smaller it is; 0 takes that of the others",
     onBench, field<&Exchange::firstBucketMib>, Values::any, axis, zeroOrBucket<&Exchange::firstBucketMib>},
    {"overlap", exchange, "", "NAME",
     "exchange gradients while backward goes on, each bucket or variable as soon as it is complete, or (off) all of them "
     "after it: an exchange takes cores, or a GPU's multiprocessors and memory, from backward, so which is faster is "
     "to be measured, by --overlap=on,off", onBench, field<&Exchange::overlap>, Values::names, axis, nullptr},
    {"loss-at", exchange, "", "NAME", "where outputs meet labels: on each replica, or gathered on one device",
     onBench, field<&Exchange::lossAt>, Values::names, axis, nullptr},
    {"job", exchange, "", "worker|ps[:N]",
     "what this process is among those of --worker-hosts and --ps-hosts, each of which somebody starts: a worker, which "
     "trains, or a ps, which only serves variables; as in tf_cnn_benchmarks and tensorpack", onBench, field<&Exchange::job>,
     Values::any, oneValue, nullptr},
    {"task-index", exchange, "", "N", "its number among those of its --job, from 0; -1 takes that in --job, or 0", onBench,
     field<&Exchange::taskIndex>, Values::any, oneValue, within<&Exchange::taskIndex, -1, 4095>},
    {"worker-hosts", exchange, "", "HOST:PORT,...",
     "the workers in the order of their numbers; they are the ranks, and all processes meet at the first", onBench,
     field<&Exchange::workerHosts>, Values::any, oneValue, nullptr, {}, {}, FileUse::none, 0, /*holdsCommas=*/true},
    {"ps-hosts", exchange, "", "HOST:PORT,...", "the servers in the order of their numbers (--servers)", onBench,
     field<&Exchange::psHosts>, Values::any, oneValue, nullptr, {}, {}, FileUse::none, 0, /*holdsCommas=*/true},
    {"master-addr", exchange, "", "HOST", "name or address of rank 0's host, where ranks of several hosts meet; empty takes the launcher's",
     onBench, field<&Exchange::masterAddr>, Values::any, oneValue, nullptr},
    {"master-port", exchange, "", "N", "port where they meet; 0 takes the launcher's",
     onBench, field<&Exchange::masterPort>, Values::any, oneValue, within<&Exchange::masterPort, 0, 65535>},
    {"interface", exchange, "", "NAME", "network interface by which ranks of several hosts exchange, as eth0; empty takes the launcher's",
     onBench, field<&Exchange::interface>, Values::any, oneValue, nullptr},
    {"timeout", exchange, "s", "X", "how long a rank waits for the others before the run fails",
     onBench, field<&Exchange::timeout>, Values::any, oneValue, positive<&Exchange::timeout>},
    {"check-drift", exchange, "steps", "N",
     "compare the weights of all replicas after every N-th step, and end the run at a difference; 0 compares those of "
     "ranks at the end alone; a run that compares is not quoted", onBench, field<&Exchange::checkDrift>, Values::any, measuring,
     within<&Exchange::checkDrift, 0, million>},
    {"sync-batch-norm", exchange, "", "",
     "let batch-norm normalise the batches of all replicas as one, which exchange its statistics in forward and backward; "
     "passed over by networks without batch-norm", onBench, field<&Exchange::syncBatchNorm>, Values::any, results, nullptr},
    {"check-collectives", exchange, "", "",
     "compare each collective between ranks before it runs, and end the run where ranks start different ones; such a run "
     "is not quoted", onBench, field<&Exchange::checkCollectives>, Values::any, measuring, nullptr},

    {"input", fed, "", "NAME[:TEXT]",
     "where batches come from; auto means queue with --data, else device; python-queue:FILE.py:FUNCTION and "
     "python-dataset:FILE.py:FUNCTION run a generator, zmq-consume:ADDRESS takes messages",
     onBench, field<&Input::source>, Values::namesWithText, axis, nullptr},
    often(onImages, {"data", fed, "", "PATH|synthetic",
     "data set: a folder with CIFAR's batches, MNIST's IDX files, a folder of images for each class (also below train/ and "
     "val/), a table of labels (labels.csv, labels.json), packed shards ('tandem data convert'), TFRecords, WebDataset's "
     "tar archives, tensorpack's LMDB or ChestX-ray14; or such a table or shard. predict takes the test images, the others the training images; synthetic: bench makes up images "
     "and labels by --seed",
     onBench | onImages, field<&Input::data>, Values::any, results, nullptr, {}, {"synthetic"}, FileUse::read}),
    {"augment", fed, "", "NAME[+NAME...]",
     "changes of training images: a chain with a name, or transforms joined by +, each with its values behind colons, as "
     "resize:264+random_crop:224+flip ('tandem list transforms'); auto is imagenet for image files, else standard",
     onBench, field<&Input::augment>, Values::namesOrChain, results, nullptr},
    {"decode", fed, "", "NAME",
     "how image files are decoded: exact gives the pixels of Pillow and torchvision; fast decodes only what is seen of a "
     "JPEG, in a reduced size where that is enough",
     onBench, field<&Input::decode>, Values::names, results, nullptr},
    {"data-split", fed, "", "NAME",
     "images of the data set: training, validation or test; auto is training in bench and features, test in predict; "
     "validation and test stand for each other where a data set has one of them",
     onBench | onImages, field<&Input::dataSplit>, Values::names, results, nullptr},
    {"shuffle-buffer", fed, "images", "N",
     "read shards in a random order, each from its beginning, and draw the next image among N that follow: nearly "
     "sequential reading, for disks that seek slowly; 0 draws among all images of the epoch",
     onBench, field<&Input::shuffleBuffer>, Values::any, results, within<&Input::shuffleBuffer, 0, billion>},
    {"loader", fed, "", "NAME",
     "what makes batches ahead, with --input=queue: --producers threads of the program, or as many processes, which "
     "share memory with it", onBench, field<&Input::loader>, Values::names, axis, nullptr},
    {"cache", fed, "GiB", "X",
     "memory for samples of a data set, as its files hold them, so that each is read from disk once; what does not fit is "
     "read again", onBench, field<&Input::cacheGib>, Values::any, axis, within<&Input::cacheGib, 0, million>},
    {"max-bad", fed, "%", "X", "images that may be bad, unless --bad-image=fail; more end the run, but one never does",
     onBench, field<&Input::maxBad>, Values::any, oneValue, within<&Input::maxBad, 0, 100>},
    {"zmq-connect", fed, "", "", "connect to the address of zmq-consume, where a sender waits; else it waits there itself",
     onBench, field<&Input::zmqConnect>, Values::any, oneValue, nullptr},
    {"zmq-keys", fed, "", "FOLDER", "keys of 'tandem data keys', by which zmq-consume encrypts and knows its senders",
     onBench, field<&Input::zmqKeys>, Values::any, oneValue, nullptr},
    {"insecure-zmq", fed, "", "", "let zmq-consume wait without keys where other hosts can reach it",
     onBench, field<&Input::insecureZmq>, Values::any, oneValue, nullptr},
    {"producers", fed, "threads", "N",
     "threads per replica that make batches, with --input=queue; with python-queue and python-dataset processes in all",
     onBench, field<&Input::producers>, Values::any, axis, within<&Input::producers, 1, 4096>},
    {"queue-depth", fed, "batches", "N", "batches per replica that may wait, with --input=queue and those from outside",
     onBench, field<&Input::queueDepth>, Values::any, axis, within<&Input::queueDepth, 2, 65536>},

    often(onBench, {"batch", step, "images", "N|max",
     "images per replica and step (strong scaling: of all); max finds the largest that fits into memory by trying, "
     "in bench", onBench | onImages, field<&Step::batch>, Values::any, axis, within<&Step::batch, 1, Config::largestBatch>,
     "the model's own", {"max", Config::mostThatFits}}),
    {"split", step, "", "equal|measured|X:X...",
     "shares of the replicas in the global batch: equal; measured, by each one's rate in some steps before the run; or "
     "numbers in this ratio, one a replica, as 3:1. All samples count alike in the gradient; images that cannot be shared "
     "out evenly go to the first replicas", onBench, field<&Step::split>, Values::any, axis, split},
    {"accumulate", step, "parts", "N",
     "parts in which a replica's batch runs before the update: less memory; batch-norm sees one part at a time", onBench,
     field<&Step::accumulate>, Values::any, axis, within<&Step::accumulate, 1, million>},
    {"lr", step, "", "X", "learning rate", onBench, field<&Step::learningRate>, Values::any, axis,
     positive<&Step::learningRate>, "the model's own, or the optimizer's"},
    {"schedule", step, "", "NAME", "course of the learning rate over the measured steps", onBench, field<&Step::schedule>,
     Values::names, axis, nullptr},
    {"optimizer", step, "", "NAME", "rule by which gradients change the weights", onBench, field<&Step::optimizer>,
     Values::names, axis, nullptr},
    {"momentum", step, "", "X", "momentum of --optimizer=sgd", onBench, field<&Step::momentum>, Values::any, axis,
     fraction<&Step::momentum>},
    {"nesterov", step, "", "", "use Nesterov's form of momentum", onBench, field<&Step::nesterov>, Values::any, axis,
     nullptr},
    {"adam-beta1", step, "", "X", "decay rate of the first moment of adam and adamw", onBench,
     field<&Step::adamBeta1>, Values::any, axis, fraction<&Step::adamBeta1>},
    {"adam-beta2", step, "", "X", "decay rate of the second moment of adam and adamw", onBench,
     field<&Step::adamBeta2>, Values::any, axis, fraction<&Step::adamBeta2>},
    {"adam-epsilon", step, "", "X", "added to the denominator of adam and adamw", onBench, field<&Step::adamEpsilon>,
     Values::any, axis, positive<&Step::adamEpsilon>},
    {"weight-decay", step, "", "X", "weight decay (L2, but with adamw apart from the gradient)", onBench, field<&Step::weightDecay>, Values::any, axis,
     within<&Step::weightDecay, 0, million>},
    {"label-smoothing", step, "", "X", "share of a label's weight that is spread over all classes",
     onBench, field<&Step::labelSmoothing>, Values::any, axis, fraction<&Step::labelSmoothing>},
    {"mixup", step, "", "X",
     "mix each two neighbouring images of a batch, and their labels, in parts drawn from the beta distribution (X, X); 0 "
     "does not", onBench, field<&Step::mixup>, Values::any, results, within<&Step::mixup, 0, 1000>},
    {"cutmix", step, "", "X",
     "exchange a rectangle of each two neighbouring images of a batch, and as much of their labels; its area is drawn as "
     "--mixup's part; with both, each pair takes one of the two; 0 does not", onBench, field<&Step::cutmix>, Values::any,
     results, within<&Step::cutmix, 0, 1000>},
    {"seed", step, "", "N", "seed of weights, images and augmentation", onBench | onImages, field<&Step::seed>, Values::any, axis,
     within<&Step::seed, 0, INT64_MAX>},
    {"forward-only", step, "", "", "run the network forward only: no gradients, no update", onBench,
     field<&Step::forwardOnly>, Values::any, work, nullptr},
    {"loader-only", step, "", "", "only make the batches and bring them to the devices: nothing is computed", onBench,
     field<&Step::loaderOnly>, Values::any, work, nullptr},
    {"deterministic", step, "", "", "same bits in every run, even where that is slower", onBench,
     field<&Numerics::deterministic>, Values::any, axis, nullptr},

    {"scaling", measured, "", "NAME", "weak keeps --batch per replica, strong keeps the global batch",
     onBench, field<&Measurement::scaling>, Values::names, axis, nullptr},
    {"warmup", measured, "steps", "N|auto", "steps before the measurement, at the first rate of --schedule; auto stops when the step time is steady",
     onBench, field<&Measurement::warmup>, Values::any, measuring, warmup},
    {"steps", measured, "steps", "N", "steps measured; 0 takes as many as fit --budget", onBench, field<&Measurement::steps>,
     Values::any, measuring, within<&Measurement::steps, 0, billion>},
    often(onBench, {"budget", measured, "s", "X", "time to measure a point, in all its rounds; without --steps a run takes a fifth of it, with --repeats=N an N-th, with --compare all of it", onBench, field<&Measurement::budget>,
     Values::any, measuring, budget}),
    {"repeats", measured, "", "N|auto",
     "runs of each point, in rounds, each run a process of its own; auto takes 3, and more until the fastest point is told "
     "apart or the budgets of all points are spent; a run with --profile or --save-weights is not repeated, "
     "but made again if something disturbed it, and the weights kept are the last ones",
     onBench,
     field<&Measurement::repeats>, Values::any, oneValue, within<&Measurement::repeats, 1, 1000>, {},
     {"auto", Config::automaticRepeats}},
    {"profile", measured, "", "",
     "take each step apart: what every replica spends on input, forward, backward, exchange and update, who comes late, "
     "and the kernels and gaps of GPUs; a run of its own, whose rate is no measurement of throughput", onBench,
     field<&Measurement::profile>, Values::any, measuring, nullptr},
    often(onBench, {"compare", measured, "", "",
     "say whether one configuration is faster than another (or than itself): their runs take turns, A B B A, until 3 % "
     "would be found", onBench, field<&Measurement::compare>, Values::any, oneValue, nullptr}),
    {"program", measured, "", "NAME", "the program that was measured, and its version", inRecordsAlone,
     field<&Measurement::program>, Values::any, axis, nullptr},
    {"verify", measured, "", "NAME",
     "compare the change of the weights in the first steps, made once more, with one replica's in fp64: column equal; "
     "auto does it where it is cheap", onBench, field<&Measurement::verify>, Values::names, oneValue, nullptr},

    often(onFeatures, {"out", output, "", "FILE", "results file, to which every run appends one line; of features the new .npy or .safetensors file", onBench | onFeatures, field<&Output::out>,
     Values::any, oneValue, out, {}, {}, FileUse::appended}),
    {"trace", output, "", "FILE", "where the course of the steps that --profile took apart goes, for ui.perfetto.dev", onBench,
     field<&Output::trace>, Values::any, oneValue, trace, {}, {}, FileUse::replaced},
    {"format", output, "", "NAME", "form of the table on standard output", onBench, field<&Output::format>, Values::names,
     oneValue, nullptr},
    often(onBench, {"page", output, "", "FILE", "where the HTML page of these runs goes, with charts and verdicts", onBench,
     field<&Output::page>, Values::any, oneValue, page, {}, {}, FileUse::replaced}),
    {"tensorboard", output, "", "FOLDER",
     "where TensorBoard's event files go, a folder below it for each point of the sweep and in that one for each run", onBench,
     field<&Output::tensorboard>, Values::any, oneValue, nullptr, {}, {}, FileUse::filled},
    {"mllog", output, "", "FILE", "file to which each run appends MLPerf's :::MLLOG lines; - is standard output", onBench,
     field<&Output::mllog>, Values::any, oneValue, nullptr, {}, {}, FileUse::appended},
    {"measure-peaks", output, "", "",
     "measure the peaks of this machine (FLOPs, bytes) anew, instead of taking those kept from an earlier run", onBench,
     field<&Measurement::measurePeaks>, Values::any, oneValue, nullptr},
    {"refresh-kernels", output, "", "",
     "measure anew which kernels are the fastest, instead of taking the times kept from an earlier run", onBench,
     field<&Measurement::refreshKernels>, Values::any, oneValue, nullptr},
    {"kernel-seconds", output, "s", "X",
     "time for choosing kernels, or a tenth of what the choice saves if that is more; what does not fit runs by older times "
     "or by the default",
     onBench, field<&Measurement::kernelSeconds>, Values::any, oneValue, within<&Measurement::kernelSeconds, 0, billion>},
    {"point-deadline", output, "s", "X",
     "time after which a point is given up; 0 takes 120 s and 4 x --budget, with --steps 600 s and 30 s per step",
     onBench, field<&Measurement::deadline>, Values::any, oneValue, within<&Measurement::deadline, 0, billion>},
    {"allow-interference", output, "", "",
     "a run that something disturbed is noted as not valid, but ends with exit code 0, not 9", onBench,
     field<&Measurement::allowInterference>, Values::any, oneValue, nullptr},
    {"inject", output, "", "FAULT",
     "put a fault into the run, to see how it ends: rank=2,step=7,phase=backward,kind=sigkill; needs TANDEM_ALLOW_INJECT=1, and "
     "the run is never quoted", onBench, field<&Measurement::inject>, Values::any, oneValue, inject, {}, {}, FileUse::none, 0,
     /*holdsCommas=*/true},
    {"dry-run", output, "", "", "print the resolved plan of every point and run nothing", onBench, field<&Output::dryRun>,
     Values::any, oneValue, nullptr},
    // clang-format on
};

}  // namespace

std::span<const Option> options() { return table; }

}  // namespace tandem
