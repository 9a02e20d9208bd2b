#include "comm/nccl/nccl_group.h"

#include <ATen/ATen.h>
#include <c10/core/Event.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <nccl.h>

#include <cstring>
#include <deque>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "comm/joined_group.h"
#include "comm/nccl/communicators.h"

namespace tandem {
namespace {

void require(ncclResult_t result, const char* what) {
  if (result == ncclSuccess || result == ncclInProgress) return;
  throw PeerError(concat("NCCL: ", what, " failed: ", ncclGetErrorString(result), "; run again with NCCL_DEBUG=WARN"));
}

ncclDataType_t typeOf(const at::Tensor& tensor) {
  if (tensor.scalar_type() == at::kFloat) return ncclFloat32;
  if (tensor.scalar_type() == at::kBFloat16) return ncclBfloat16;
  if (tensor.scalar_type() == at::kByte) return ncclUint8;
  check(tensor.scalar_type() == at::kHalf, "NCCL exchanges float, bfloat16, half or bytes");
  return ncclFloat16;
}

/// Memory of ncclMemAlloc, registered with ncclCommRegister.
class NcclMemory final : public CommunicatorMemory {
 public:
  NcclMemory(ncclComm_t communicator, c10::Device device) : communicator_(communicator), device_(device) {}

  void* allocate(int64_t bytes) override {
    const c10::cuda::CUDAGuard guard(device_);
    void* memory = nullptr;
    accept(ncclMemAlloc(&memory, static_cast<size_t>(bytes)), "ncclMemAlloc");
    return memory;
  }
  void release(void* memory) noexcept override { ncclMemFree(memory); }
  void* enroll(void* memory, int64_t bytes) override {
    const c10::cuda::CUDAGuard guard(device_);
    void* handle = nullptr;
    accept(ncclCommRegister(communicator_, memory, static_cast<size_t>(bytes), &handle), "ncclCommRegister");
    return handle;
  }
  void withdraw(void* handle) noexcept override {
    int before = 0;  // not a guard, which would throw if the device has failed
    cudaGetDevice(&before);
    cudaSetDevice(device_.index());
    if (handle != nullptr) ncclCommDeregister(communicator_, handle);
    cudaSetDevice(before);
  }
  c10::Device device() const override { return device_; }

 private:
  static void accept(ncclResult_t result, const char* what) {
    if (result != ncclSuccess) throw Refused{concat(what, " refused: ", ncclGetErrorString(result))};
  }

  ncclComm_t communicator_;
  const c10::Device device_;
};

class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(ncclComm_t handle, c10::Device device)
      : handle_(handle),
        stream_(c10::cuda::getStreamFromPool(/*isHighPriority=*/true, device.index())),
        memory_(std::make_unique<NcclMemory>(handle, device)) {}

  bool hasWork() noexcept override {
    const bool has = cudaStreamQuery(stream_.stream()) != cudaSuccess;
    cudaGetLastError();  // unfinished work is not an error
    return has;
  }
  void abort() noexcept override { ncclCommAbort(handle_); }
  RegisteredMemory& memory() override { return memory_; }

  ncclComm_t handle() const { return handle_; }
  c10::cuda::CUDAStream stream() const { return stream_; }

 private:
  ncclComm_t handle_;
  c10::cuda::CUDAStream stream_;
  RegisteredMemory memory_;
};

class NcclGroup final : public Group {
 public:
  /// `own`: the communicator of replica `replica` of this process.
  NcclGroup(std::shared_ptr<Communicators> all, NcclCommunicator& own, size_t replica, const Device& device)
      : all_(std::move(all)), own_(own), replica_(replica), device_(device) {}

  at::Tensor memory(int64_t count, at::ScalarType type) override {
    return all_->use(replica_, [&] { return own_.memory().allocate(count, type); });
  }
  std::string memoryText() const override { return own_.memory().text("NCCL"); }

  // The collective runs on its own stream, after the gradient is complete on the compute stream and beside what follows
  // there.
  Ticket start(at::Tensor tensor, Collective op) override {
    const Event ready = device_.record();
    const c10::cuda::CUDAStreamGuard guard(own_.stream());
    device_.wait(ready);
    all_->use(replica_, [&] { launch(tensor, op); });
    pending_.push_back({std::move(tensor), device_.record()});
    return first_ + static_cast<Ticket>(pending_.size()) - 1;
  }

  bool progress() override {
    if (isRecorded()) return pending_.empty();
    ncclResult_t state = ncclSuccess;
    all_->use(replica_, [&] { require(ncclCommGetAsyncError(own_.handle(), &state), "ncclCommGetAsyncError"); });
    require(state, "an operation");
    while (!pending_.empty() && pending_.front().finished->query()) drop();
    return pending_.empty();
  }

  // Only the compute stream waits. The host continues to enqueue the updates.
  void wait(Ticket ticket) override {
    while (first_ <= ticket) {
      device_.wait(pending_.front().finished);
      drop();
    }
    progress();
  }

 private:
  struct Pending {
    at::Tensor tensor;
    Event finished;
  };

  void launch(const at::Tensor& tensor, Collective op) {
    void* data = tensor.data_ptr();
    if (op == Collective::sum) {
      require(ncclAllReduce(data, data, tensor.numel(), typeOf(tensor), ncclSum, own_.handle(), own_.stream().stream()),
              "ncclAllReduce");
    } else if (op == Collective::broadcast) {
      require(ncclBroadcast(data, data, tensor.numel(), typeOf(tensor), 0, own_.handle(), own_.stream().stream()),
              "ncclBroadcast");
    } else {
      int replicas = 0, index = 0;
      require(ncclCommCount(own_.handle(), &replicas), "ncclCommCount");
      require(ncclCommUserRank(own_.handle(), &index), "ncclCommUserRank");
      const at::Tensor part = partOf(tensor, replicas, index);
      require(ncclAllGather(part.data_ptr(), data, part.numel(), typeOf(tensor), own_.handle(), own_.stream().stream()),
              "ncclAllGather");
    }
  }

  // During a capture nothing runs yet, and a query of an event would end the capture with an error.
  static bool isRecorded() {
    return c10::cuda::currentStreamCaptureStatusMayInitCtx() != c10::cuda::CaptureStatus::None;
  }

  void drop() {
    pending_.pop_front();
    ++first_;
  }

  const std::shared_ptr<Communicators> all_;
  NcclCommunicator& own_;
  const size_t replica_;
  const Device& device_;
  std::deque<Pending> pending_;
  Ticket first_ = 0;  // ticket of pending_.front()
};

std::vector<int> indicesOf(const GroupOptions& options) {
  std::vector<int> indices;
  for (const Device* device : options.devices) {
    if (device->isCpu()) throw UsageError(concat("--all-reduce=nccl: '", device->name(), "' is no GPU; use owner"));
    const int index = device->torch().index();
    if (std::find(indices.begin(), indices.end(), index) != indices.end()) {
      throw UsageError(concat("--all-reduce=nccl: '", device->name(),
                              "' holds two replicas; NCCL takes each GPU once; "
                              "use --all-reduce=copy or other --devices"));
    }
    indices.push_back(index);
  }
  return indices;
}

/// What the communicators of a group have in common: rank 0's, which all ranks hear.
ncclUniqueId idOf(World* world) {
  ncclUniqueId id{};
  const bool isFirst = world == nullptr || world->place().rank == 0;
  if (isFirst) require(ncclGetUniqueId(&id), "ncclGetUniqueId");
  if (world == nullptr) return id;
  const std::string heard = world->fromFirst({id.internal, sizeof id.internal});
  check(heard.size() == sizeof id.internal, "rank 0 says an ncclUniqueId");
  std::memcpy(id.internal, heard.data(), sizeof id.internal);
  return id;
}

/// The communicators of this process's replicas.
std::vector<ncclComm_t> handlesOn(const std::vector<int>& indices, World* world) {
  const auto replicas = static_cast<int>(indices.size());
  const ncclUniqueId id = idOf(world);
  std::vector<ncclComm_t> handles(indices.size());
  require(ncclGroupStart(), "ncclGroupStart");
  for (int i = 0; i < replicas; ++i) {
    const c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(indices[static_cast<size_t>(i)]));
    const auto [size, index] = joinedPlace(i, replicas, world);
    require(ncclCommInitRank(&handles[static_cast<size_t>(i)], static_cast<int>(size), id, static_cast<int>(index)),
            "ncclCommInitRank");
  }
  require(ncclGroupEnd(), "ncclGroupEnd");
  return handles;
}

}  // namespace

std::vector<std::unique_ptr<Group>> makeNcclGroups(const GroupOptions& options) {
  const std::vector<ncclComm_t> handles = handlesOn(indicesOf(options), options.world);
  std::vector<std::unique_ptr<Communicator>> communicators;
  std::vector<NcclCommunicator*> own;
  for (size_t replica = 0; replica < handles.size(); ++replica) {
    auto communicator = std::make_unique<NcclCommunicator>(handles[replica], options.devices[replica]->torch());
    own.push_back(communicator.get());
    communicators.push_back(std::move(communicator));
  }
  const auto all = std::make_shared<Communicators>(std::move(communicators));
  // The monitor must not keep the communicators alive: they end with the groups.
  options.monitor->onAbort([held = std::weak_ptr(all)] {
    if (const auto alive = held.lock()) alive->abort();
  });
  std::vector<std::unique_ptr<Group>> groups;
  for (size_t replica = 0; replica < handles.size(); ++replica) {
    groups.push_back(std::make_unique<NcclGroup>(all, *own[replica], replica, *options.devices[replica]));
  }
  return groups;
}

}  // namespace tandem
