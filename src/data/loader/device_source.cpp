#include "data/loader/batch_stager.h"

namespace tandem {
namespace {

class DeviceSource final : public BatchSource {
 public:
  explicit DeviceSource(const SourceOptions& options) : batch_(Staging(options).make(0)) {
    options.form.device->synchronize();
  }

  bool next(Batch& out) override {
    out = batch_;
    out.index = next_++;
    return true;
  }

 private:
  const Batch batch_;
  int64_t next_ = 0;
};

}  // namespace

std::unique_ptr<BatchSource> makeDeviceSource(const SourceOptions& options) {
  return std::make_unique<DeviceSource>(options);
}

}  // namespace tandem
