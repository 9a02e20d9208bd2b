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
};

constexpr CommandEntry table[] = {
    {"bench", onBench, "Measures data-parallel training: images/s of every point of the sweep that the options span.",
     benchExamples},
};

}  // namespace

std::span<const CommandEntry> commandsWithOptions() { return table; }

const CommandEntry& commandCalled(std::string_view name) {
  const auto row = std::ranges::find(table, name, &CommandEntry::name);
  check(row != std::end(table), "no such command takes options");
  return *row;
}

}  // namespace tandem
