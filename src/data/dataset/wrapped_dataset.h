#pragma once

#include <memory>
#include <utility>

#include "data/dataset/dataset.h"

namespace tandem {

/// The images of another data set. A derived class changes what differs.
class WrappedDataset : public Dataset {
 public:
  explicit WrappedDataset(std::shared_ptr<const Dataset> inner) : inner_(std::move(inner)) {}

  const DatasetInfo& info() const override { return inner_->info(); }
  int64_t size() const override { return inner_->size(); }
  Sample read(int64_t index, std::vector<uint8_t>& memory, std::span<uint8_t> label) const override {
    return inner_->read(index, memory, label);
  }
  void readLabel(int64_t index, std::span<uint8_t> label) const override { inner_->readLabel(index, label); }
  std::string nameOf(int64_t index) const override { return inner_->nameOf(index); }
  std::span<const int64_t> shardEnds() const override { return inner_->shardEnds(); }

 protected:
  const Dataset& inner() const { return *inner_; }

 private:
  const std::shared_ptr<const Dataset> inner_;
};

}  // namespace tandem
