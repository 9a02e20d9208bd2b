#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tandem {

/// Memory of two processes, through which one hands messages to the other. Whole pages hold a 64-bit word for each
/// slot, 1 while a message lies there, and one for what the writer is at. The slots follow. It has no name in the file
/// system, and ends with the processes. Each process has one thread at a time that writes or takes; any frees.
class SharedSlots {
 public:
  /// Throws StorageError if there is no such memory. REQUIRES: both are at least 1.
  SharedSlots(int64_t count, int64_t slotBytes);
  /// Those that the parent made and handed on as childShared. Throws InternalError if there are none.
  static SharedSlots inherited(int64_t count, int64_t slotBytes);
  ~SharedSlots();
  SharedSlots(const SharedSlots&) = delete;
  SharedSlots& operator=(const SharedSlots&) = delete;

  /// The bytes before the first slot.
  static int64_t headBytes(int64_t count);

  int file() const { return file_; }  ///< the descriptor
  int64_t count() const { return count_; }
  int64_t slotBytes() const { return slotBytes_; }
  std::span<uint8_t> slot(int64_t index) const;

  bool isFull(int64_t index) const { return word(index) != 0; }
  void fill(int64_t index) const { store(index, 1); }
  void free(int64_t index) const { store(index, 0); }
  /// What the writer is at, as it says; 0: nothing.
  int64_t work() const { return word(count_); }
  void setWork(int64_t work) const { store(count_, work); }

 private:
  SharedSlots(int file, int64_t count, int64_t slotBytes);
  int64_t word(int64_t index) const;
  void store(int64_t index, int64_t value) const;

  const int64_t count_, slotBytes_;
  const size_t bytes_;
  const int file_;
  uint8_t* data_ = nullptr;
};

}  // namespace tandem
