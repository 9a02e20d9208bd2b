#include "data/stream/shared_slots.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/text.h"
#include "machine/process/child_output.h"

namespace tandem {
namespace {

constexpr int64_t pageBytes = 4096, wordBytes = sizeof(int64_t);

size_t wholeBytes(int64_t count, int64_t slotBytes) {
  return static_cast<size_t>(SharedSlots::headBytes(count) + count * slotBytes);
}

int made(size_t bytes) {
  const int file = memfd_create("tandem-input", MFD_CLOEXEC);
  if (file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) == 0) return file;
  const int error = errno;
  if (file >= 0) close(file);
  errno = error;
  return -1;
}

}  // namespace

int64_t SharedSlots::headBytes(int64_t count) {
  return ((count + 1) * wordBytes + pageBytes - 1) / pageBytes * pageBytes;
}

SharedSlots::SharedSlots(int64_t count, int64_t slotBytes)
    : SharedSlots(made(wholeBytes(count, slotBytes)), count, slotBytes) {}

SharedSlots SharedSlots::inherited(int64_t count, int64_t slotBytes) {
  struct stat facts {};
  const bool there =
      fstat(childShared, &facts) == 0 && facts.st_size >= static_cast<off_t>(wholeBytes(count, slotBytes));
  check(there, "the parent hands memory on");
  return {childShared, count, slotBytes};
}

SharedSlots::SharedSlots(int file, int64_t count, int64_t slotBytes)
    : count_(count), slotBytes_(slotBytes), bytes_(wholeBytes(count, slotBytes)), file_(file) {
  void* const mapped = file < 0 ? MAP_FAILED : mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) {
    const int error = errno;
    if (file >= 0) close(file);
    throw StorageError(concat("cannot share ", bytesText(static_cast<double>(bytes_)),
                              " of memory with a process that makes batches: ", std::strerror(error)));
  }
  data_ = static_cast<uint8_t*>(mapped);
}

SharedSlots::~SharedSlots() {
  munmap(data_, bytes_);
  close(file_);
}

std::span<uint8_t> SharedSlots::slot(int64_t index) const {
  return {data_ + headBytes(count_) + index * slotBytes_, static_cast<size_t>(slotBytes_)};
}

int64_t SharedSlots::word(int64_t index) const {
  return std::atomic_ref(reinterpret_cast<int64_t*>(data_)[index]).load(std::memory_order_acquire);
}

void SharedSlots::store(int64_t index, int64_t value) const {
  std::atomic_ref(reinterpret_cast<int64_t*>(data_)[index]).store(value, std::memory_order_release);
}

}  // namespace tandem
