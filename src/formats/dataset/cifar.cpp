#include "formats/dataset/cifar10.h"

#include <algorithm>
#include <optional>

namespace tandem {
namespace {

constexpr int64_t cifar100RecordBytes = Cifar10::recordBytes + 1;

bool isCifar100(std::span<const uint8_t> bytes) {
  if (bytes.size() % cifar100RecordBytes != 0) return false;
  for (size_t at = 0; at < bytes.size(); at += cifar100RecordBytes) {
    if (bytes[at] > 19 || bytes[at + 1] > 99) return false;
  }
  return true;
}

std::optional<ParseError> refuseLength(std::span<const uint8_t> bytes) {
  if (bytes.empty())
    return parseError(0, "the file is empty; a CIFAR-10 batch is a multiple of 3073 bytes; fetch it again");
  const uint64_t rest = bytes.size() % Cifar10::recordBytes;
  if (rest == 0) return std::nullopt;
  if (isCifar100(bytes)) {
    return parseError(0,
                      "these are CIFAR-100 records (3074 bytes, two labels); CIFAR-10 has 3073-byte records: "
                      "fetch cifar-10-binary.tar.gz");
  }
  return parseError(bytes.size() - rest, "the file is ", bytes.size(), " bytes, ", rest, " more than ",
                    bytes.size() / Cifar10::recordBytes,
                    " CIFAR-10 records of 3073 bytes; truncated or another format, fetch it again");
}

}  // namespace

const char* const cifar10PickleHint =
    "this is a Python pickle (CIFAR-10's 'python version'), which is never loaded; fetch the 'binary version', "
    "cifar-10-binary.tar.gz, and give the folder of data_batch_1.bin to data_batch_5.bin";

bool isPickle(std::span<const uint8_t> head) {
  return head.size() >= 2 && head[0] == 0x80 && head[1] >= 2 && head[1] <= 5;
}

Result<Cifar10> parseCifar10(std::span<const uint8_t> bytes) {
  if (isPickle(bytes)) return parseError(0, cifar10PickleHint);
  if (auto error = refuseLength(bytes)) return *error;
  const Cifar10 batch{bytes};
  for (int64_t i = 0; i < batch.count(); ++i) {
    if (batch.label(i) >= Cifar10::classes) {
      return parseError(i * Cifar10::recordBytes, "label ", int{batch.label(i)}, " of record ", i,
                        "; CIFAR-10 has labels 0 to 9, so the file is damaged or of another format");
    }
  }
  return batch;
}

}  // namespace tandem
