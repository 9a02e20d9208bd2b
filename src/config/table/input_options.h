#pragma once

#include "config/table/row_parts.h"

namespace tandem::option_rows {

inline constexpr Option inputOptions[] = {
    // clang-format off
    {"input", fed, "", "NAME[:TEXT]",
     "where batches come from; auto means queue with --data, else device; python-queue:FILE.py:FUNCTION and "
     "python-dataset:FILE.py:FUNCTION run a generator, zmq-consume:ADDRESS takes messages",
     onSteps, field<&Input::source>, Values::namesWithText, axis, nullptr},
    often(onImages | onTrain | onEval, {"data", fed, "", "PATH|synthetic",
     "data set: a folder with CIFAR's batches, MNIST's IDX files, a folder of images for each class (also below train/ and "
     "val/), a table of labels (labels.csv, labels.json), packed shards ('tandem data convert'), TFRecords, WebDataset's "
     "tar archives, tensorpack's LMDB or ChestX-ray14; or such a table or shard. predict takes the test images, the others the training images; synthetic: bench makes up images "
     "and labels by --seed",
     onAll, field<&Input::data>, Values::any, results, nullptr, {}, {"synthetic"}, FileUse::read}),
    {"augment", fed, "", "NAME[+NAME...]",
     "changes of training images: a chain with a name, or transforms joined by +, each with its values behind colons, as "
     "resize:264+random_crop:224+flip ('tandem list transforms'); auto is imagenet for image files, else standard",
     onSteps, field<&Input::augment>, Values::namesOrChain, results, nullptr},
    {"decode", fed, "", "NAME",
     "how image files are decoded: exact gives the pixels of Pillow and torchvision; fast decodes only what is seen of a "
     "JPEG, in a reduced size where that is enough",
     onSteps, field<&Input::decode>, Values::names, results, nullptr},
    {"data-split", fed, "", "NAME",
     "images of the data set: training, validation or test; auto is training in bench and features, test in predict; "
     "validation and test stand for each other where a data set has one of them",
     onAll, field<&Input::dataSplit>, Values::names, results, nullptr},
    {"shuffle-buffer", fed, "images", "N",
     "read shards in a random order, each from its beginning, and draw the next image among N that follow: nearly "
     "sequential reading, for disks that seek slowly; 0 draws among all images of the epoch",
     onSteps, field<&Input::shuffleBuffer>, Values::any, results, within<&Input::shuffleBuffer, 0, billion>},
    keepingBits({"loader", fed, "", "NAME",
     "what makes batches ahead, with --input=queue: --producers threads of the program, or as many processes, which "
     "share memory with it", onSteps, field<&Input::loader>, Values::names, axis, nullptr}),
    keepingBits({"cache", fed, "GiB", "X",
     "memory for samples of a data set, as its files hold them, so that each is read from disk once; what does not fit is "
     "read again", onSteps, field<&Input::cacheGib>, Values::any, axis, within<&Input::cacheGib, 0, million>}),
    {"max-bad", fed, "%", "X", "images that may be bad, unless --bad-image=fail; more end the run, but one never does",
     onSteps, field<&Input::maxBad>, Values::any, oneValue, within<&Input::maxBad, 0, 100>},
    {"zmq-connect", fed, "", "", "connect to the address of zmq-consume, where a sender waits; else it waits there itself",
     onSteps, field<&Input::zmqConnect>, Values::any, oneValue, nullptr},
    {"zmq-keys", fed, "", "FOLDER", "keys of 'tandem data keys', by which zmq-consume encrypts and knows its senders",
     onSteps, field<&Input::zmqKeys>, Values::any, oneValue, nullptr},
    {"insecure-zmq", fed, "", "", "let zmq-consume wait without keys where other hosts can reach it",
     onSteps, field<&Input::insecureZmq>, Values::any, oneValue, nullptr},
    keepingBits({"producers", fed, "threads", "N",
     "threads per replica that make batches, with --input=queue; with python-queue and python-dataset processes in all",
     onSteps, field<&Input::producers>, Values::any, axis, within<&Input::producers, 1, 4096>}),
    keepingBits({"queue-depth", fed, "batches", "N", "batches per replica that may wait, with --input=queue and those from outside",
     onSteps, field<&Input::queueDepth>, Values::any, axis, within<&Input::queueDepth, 2, 65536>}),
    // clang-format on
};

}  // namespace tandem::option_rows
