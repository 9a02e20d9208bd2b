#include "data/loader/loader_rate.h"

#include <ATen/ops/empty.h>

#include <exception>
#include <thread>
#include <vector>

#include "kernels/tensor/normalize.h"

namespace tandem {

struct LoaderMeter::Work {
  int64_t images = 0;
  Nanos spent{}, normalize{};
  InputTimes times = {};
  std::exception_ptr failure = nullptr;
};

// In small batches, so that all threads end at nearly the same time.
void LoaderMeter::run(Work& work, Nanos end) {
  constexpr int64_t together = 8;
  const BatchPlan& plan = maker_->plan();
  const DatasetInfo& info = maker_->dataset().info();
  const at::Tensor images = at::empty({together, plan.height, plan.width, 3}, at::kByte);
  const auto inputBytes = static_cast<size_t>(images[0].numel());
  uint8_t* const pixels = images.mutable_data_ptr<uint8_t>();
  std::vector<uint8_t> label(labelBytes(*info.labels, info.classes));
  InputMemory memory;
  Device::cpu(0, {}, 1).bind();
  const Nanos begin = now();
  do {
    const int64_t first = next_.fetch_add(together);
    for (int64_t i = 0; i < together; ++i) {
      const auto out = static_cast<size_t>(i) * inputBytes;
      maker_->makeInput(first + i, {{pixels + out, inputBytes}, label, memory, &work.times});
    }
    if (normalised_) {
      const Nanos made = now();
      at::Tensor there = at::empty({together, 3 + normalised_->zeroChannels, plan.height, plan.width},
                                   at::TensorOptions(normalised_->type), normalised_->format);
      normalize(images, info.normalization, there);
      work.normalize += now() - made;
    }
    work.images += together;
  } while (now() < end);
  work.spent = now() - begin;
}

LoaderRate LoaderMeter::measure(int64_t threads, Nanos length) {
  std::vector<Work> works(static_cast<size_t>(threads));
  {
    const Nanos end = now() + length;
    std::vector<std::jthread> team;
    for (Work& work : works) {
      team.emplace_back([this, &work, end] {
        try {
          run(work, end);
        } catch (...) {
          work.failure = std::current_exception();
        }
      });
    }
  }
  Work all;
  LoaderRate rate;
  for (const Work& work : works) {
    if (work.failure) std::rethrow_exception(work.failure);
    rate.imagesPerSecond += static_cast<double>(work.images) / seconds(work.spent);
    all.images += work.images, all.spent += work.spent, all.normalize += work.normalize;
    all.times.read += work.times.read, all.times.decode += work.times.decode;
  }
  const auto ofAnImage = [&](Nanos time) { return seconds(time) / static_cast<double>(all.images); };
  rate.image = ofAnImage(all.spent), rate.normalize = ofAnImage(all.normalize);
  rate.read = ofAnImage(all.times.read), rate.decode = ofAnImage(all.times.decode);
  return rate;
}

}  // namespace tandem
