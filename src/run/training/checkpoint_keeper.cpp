#include "run/training/checkpoint_keeper.h"

#include "base/text.h"
#include "formats/weights/safetensors.h"
#include "train/checkpoint/torch_tensors.h"

namespace tandem {

CheckpointKeeper::~CheckpointKeeper() {
  if (writing_.valid()) writing_.wait();
}

void CheckpointKeeper::wait() {
  if (writing_.valid()) writing_.get();
}

void CheckpointKeeper::save(TrainingState state, const TrainingRecord& record, nlohmann::json rate) {
  wait();
  CheckpointFacts facts = facts_;
  facts.step = state.step;
  facts.rate = std::move(rate);
  facts.record = record;
  facts.record.checkpoints = ++saved_;
  writing_ = std::async(std::launch::async,
                        [this, facts = std::move(facts), state = std::move(state)] { folder_->save(facts, state); });
}

void CheckpointKeeper::saveBest(StateTensors weights) {
  wait();
  writing_ = std::async(std::launch::async, [path = folder_->pathOf("best.safetensors"), weights = std::move(weights)] {
    std::vector<FileTensor> tensors;
    for (const auto& [name, tensor] : weights) tensors.push_back(fileTensorOf(name, tensor));
    writeSafetensors(path, std::move(tensors), {{"format", "pt"}});
  });
}

}  // namespace tandem
