#include "config/commands.h"

#include <algorithm>

#include "base/error.h"
#include "config/option.h"

namespace tandem {
namespace {

constexpr std::string_view benchExamples[] = {
    "tandem bench --model=resnet20 --replicas=1-4*2 --strategy=replicated,parameter_server",
    "tandem bench --model=resnet20 --data=cifar-10-batches-bin --batch=64 --steps=400 --schedule=cosine",
    "tandem bench --devices=cuda:0+1,cuda:0+2 --all-reduce=nccl,copy --precision=bf16 --batch=128",
    "tandem bench --model=resnet20 --replicas=2 --overlap=on,off --compare",
};

constexpr std::string_view trainExamples[] = {
    "tandem train --recipe=fashion-mnist --data=/usr/share/datasets/fashion-mnist --checkpoint=run1 --resume=auto",
    "tandem train --model=resnet20 --data=cifar-10-batches-bin --epochs=30 --schedule=cosine --stop-at=accuracy:0.91",
    "tandem train --model=resnet50 --data=imagenet --epochs=90 --replicas=8 --precision=bf16 --warmup-epochs=5",
    "tandem train --model=densenet121 --head=14xsigmoid --data=ChestX-ray14 --epochs=5 --optimizer=adam",
};
constexpr std::string_view evalExamples[] = {
    "tandem eval --model=resnet20 --weights=run1/best.safetensors --data=cifar-10-batches-bin",
    "tandem eval --model=resnet50 --weights=resnet50.pth --data=imagenet --data-split=validation --replicas=2",
    "tandem eval --model=densenet121 --head=14xsigmoid --weights=chest.safetensors --data=ChestX-ray14 --json",
};
constexpr std::string_view predictExamples[] = {
    "tandem predict --model=resnet50 --weights=resnet50.pth --class-names=imagenet.txt cat.jpg dog.png",
    "tandem predict --model=resnet50 --head=14xsigmoid --weights=chest.safetensors --top=0 xray.png",
    "tandem predict --model=vgg16 --weights=keras.safetensors --weights-map=keras --normalization=caffe cat.jpg",
    "tandem predict --model=resnet20 --weights=mine.safetensors --data=cifar-10-batches-bin",
};
constexpr std::string_view featuresExamples[] = {
    "tandem features --model=vgg16 --weights=vgg16.pth --replicas=2 --out=features.npy a.png b.png",
    "tandem features --model=resnet50 --weights=resnet50.pth --bad-image=skip --json --out=features.npy a.jpg b.jpg",
    "tandem features --model=resnet20 --weights=mine.safetensors --data=cifar-10-batches-bin --out=f.safetensors",
};

constexpr CommandEntry table[] = {
    {"bench", onBench,
     "Measures data-parallel training: images/s of every point of the sweep that the options span. Without --replicas, "
     "--strategy, --devices and --compare these are 1, 2, 4, ... replicas by two strategies, on GPUs in two precisions "
     "too. On a CPU their batch is 4, without --model and --batch.",
     benchExamples, "", true},
    {"train", onTrain,
     "Trains a network to the end: epochs over a data set, with evaluations, checkpoints, and a record of its course. "
     "By "
     "SIGTERM, SIGINT, SIGUSR1 or --max-time it ends with a checkpoint and exit code 75; --resume=auto goes on from "
     "there.",
     trainExamples, "", false},
    {"eval", onEval,
     "Says how good a network with trained weights is on a data set: loss, accuracy, AUC, what is taken for what.",
     evalExamples, "", false},
    {"predict", onPredict,
     "Shows what a network with trained weights makes of images (JPEG or PNG), or how many test images it gets right.",
     predictExamples, "[IMAGE...]", false},
    {"features", onFeatures,
     "Writes the features of images: what the last layer before the classes reads, averaged over the pixels.",
     featuresExamples, "[IMAGE...]", false},
};

}  // namespace

std::span<const CommandEntry> commandsWithOptions() { return table; }

const CommandEntry& commandCalled(std::string_view name) {
  const auto row = std::ranges::find(table, name, &CommandEntry::name);
  check(row != std::end(table), "no such command takes options");
  return *row;
}

}  // namespace tandem
