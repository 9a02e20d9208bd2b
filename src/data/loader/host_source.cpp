#include "data/loader/batch_stager.h"

namespace tandem {
namespace {

class HostSource final : public BatchSource {
 public:
  explicit HostSource(const SourceOptions& options) : staging_(options) {}

  bool next(Batch& out) override {
    out = staging_.make(next_++);
    return true;
  }

 private:
  Staging staging_;
  int64_t next_ = 0;
};

}  // namespace

std::unique_ptr<BatchSource> makeHostSource(const SourceOptions& options) {
  return std::make_unique<HostSource>(options);
}

}  // namespace tandem
