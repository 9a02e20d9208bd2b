#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/catalog.h"
#include "base/error.h"
#include "base/text.h"
#include "data/stream/streamed_batches.h"
#include "support/text_of_failure.h"

namespace tandem {
namespace {

// Batches without NumPy: memory with a shape.
constexpr const char* input = R"(
import struct

def images(value, count=2):
    return memoryview(bytes([value]) * (count * 60)).cast("B", (count, 4, 5, 3))

def labels(*values):
    return memoryview(struct.pack(f"{len(values)}q", *values)).cast("q")

def batches():
    for i in range(4):
        yield images(i), labels(i % 3, 1)

def shared(worker, workers):
    for i in range(worker, 100, workers):
        yield images(i), labels(0, 1)

def many():
    for i in range(600):
        yield images(i % 251), labels(0, 1)

def samples():
    for i in range(6):
        yield memoryview(bytes([i]) * 60).cast("B", (4, 5, 3)), i % 3

class Tensor:
    """As PyTorch's: no buffer, but numpy() gives one."""
    def __init__(self, values):
        self.values = values
    def numpy(self):
        return memoryview(self.values)

def flagged(of):
    again = bytearray(3)   # one memory for all samples
    for i in range(6):
        again[:] = bytes([i % 2, 1, 0])
        yield memoryview(bytes(60)).cast("B", (4, 5, 3)), of(again)

def flags_again():
    return flagged(lambda again: again)

def flags_of_bytes():
    return flagged(bytes)

def flags_of_array():
    import array
    return flagged(lambda again: array.array("f", list(again)))

def flags_of_view():
    return flagged(lambda again: memoryview(again)[::1])

def flags_of_tensor():
    return flagged(Tensor)

def one_flag():
    return flagged(lambda again: again[:1])

def mixed():
    return flagged(lambda again: again if again[0] else 1)

def fails():
    yield images(0), labels(0, 1)
    raise ValueError("the disk\nis gone")

def large():
    yield images(0, 100), labels(*[0] * 100)

def words():
    yield ["a", "b"], labels(0, 1)

def dies():
    import os
    os._exit(9)
    yield
)";

class PythonTest : public ::testing::Test {
 protected:
  PythonTest() {
    std::filesystem::create_directories(folder_);
    std::ofstream(file_) << input;
  }
  ~PythonTest() override { std::filesystem::remove_all(folder_); }

  StreamOptions options(const std::string& function, int64_t workers = 1) const {
    return {.name = "python-queue",
            .argument = function.empty() ? "" : concat(file_, ':', function),
            .waiting = 2,
            .workers = workers,
            .allWorkers = workers,
            .mostBytes = 1000,
            .shape = {2, 4, 5, 3}};
  }

  static HostBatch next(FrameStream& stream, std::string_view labels = "class", int64_t classes = 3) {
    const StreamedForm form{
        .stream = "test", .shape = {2, 4, 5, classes}, .labels = &find(labelKinds(), labels, "labels")};
    std::string why;
    HostBatch batch = batchOf(stream.next(60'000).value(), form, why);
    EXPECT_EQ(why, "");
    return batch;
  }
  static int first(const HostBatch& batch) { return batch.images.const_data_ptr<uint8_t>()[0]; }

  std::string failureOf(const std::string& function,
                        std::unique_ptr<FrameStream> (*open)(const StreamOptions&) = openPythonQueue) const {
    const auto stream = open(options(function));
    const auto untilItFails = [&] {
      while (true) stream->next(60'000);
    };
    try {
      untilItFails();
    } catch (const std::exception& failure) {
      return failure.what();
    }
    return "";
  }

  const std::string folder_ = concat(testing::TempDir(), "python_stream_", getpid()), file_ = folder_ + "/input.py";
};

TEST_F(PythonTest, BatchesComeInOrderUntilTheyEnd) {
  const auto stream = openPythonQueue(options("batches"));
  for (int i = 0; i < 4; ++i) {
    const HostBatch batch = next(*stream);
    EXPECT_EQ(first(batch), i);
    EXPECT_EQ(batch.labels.const_data_ptr<int64_t>()[0], i % 3);
  }
  const std::string text = textOfFailure<PeerError>([&] { stream->next(60'000); });
  EXPECT_NE(text.find("nothing more after 4 batches"), std::string::npos) << text;
}

TEST_F(PythonTest, ABatchKeepsItsSlot) {
  const auto stream = openPythonQueue(options("shared"));
  const HostBatch kept = next(*stream);
  for (int i = 1; i < 20; ++i) EXPECT_EQ(first(next(*stream)), i);
  EXPECT_EQ(first(kept), 0);
}

TEST_F(PythonTest, ManyBatchesCanWait) {
  StreamOptions waiting = options("many");
  waiting.waiting = 600;
  const auto stream = openPythonQueue(waiting);
  std::vector<HostBatch> kept;
  for (int i = 0; i < 600; ++i) kept.push_back(next(*stream));
  for (int i = 0; i < 600; ++i) ASSERT_EQ(first(kept[static_cast<size_t>(i)]), i % 251) << i;
}

TEST_F(PythonTest, ProcessesTakeTurns) {
  const auto stream = openPythonQueue(options("shared", 3));
  for (int i = 0; i < 12; ++i) EXPECT_EQ(first(next(*stream)), i);
}

TEST_F(PythonTest, SamplesAreJoined) {
  const auto stream = openPythonDataset(options("samples"));
  for (int i = 0; i < 3; ++i) {
    const HostBatch batch = next(*stream);
    EXPECT_EQ(first(batch), 2 * i);
    EXPECT_EQ(batch.images.const_data_ptr<uint8_t>()[60], 2 * i + 1);
    EXPECT_EQ(batch.labels.const_data_ptr<int64_t>()[1], (2 * i + 1) % 3);
  }
}

TEST_F(PythonTest, FlagsOfSamplesAreTakenAsTheyCome) {
  for (const char* const function :
       {"flags_again", "flags_of_bytes", "flags_of_array", "flags_of_view", "flags_of_tensor"}) {
    SCOPED_TRACE(function);
    const auto stream = openPythonDataset(options(function));
    for (int i = 0; i < 3; ++i) {
      const HostBatch batch = next(*stream, "flags");
      ASSERT_EQ(batch.labels.numel(), 6);
      const uint8_t* const flags = batch.labels.const_data_ptr<uint8_t>();
      EXPECT_EQ(std::vector<int>(flags, flags + 6), (std::vector{0, 1, 0, 1, 1, 0}));
    }
  }
}

TEST_F(PythonTest, OneFlagOfASampleIsNoNumber) {
  const auto stream = openPythonDataset(options("one_flag"));
  const HostBatch batch = next(*stream, "flags", 1);
  EXPECT_EQ(batch.labels.sizes(), (at::IntArrayRef{2, 1}));
  EXPECT_EQ(batch.labels.const_data_ptr<uint8_t>()[1], 1);
}

TEST_F(PythonTest, LabelsOfOneBatchHaveOneForm) {
  const std::string text = failureOf("mixed", openPythonDataset);
  EXPECT_NE(text.find("labels of one batch are (3,) 'B' and a number"), std::string::npos) << text;
}

TEST_F(PythonTest, WithoutAFunctionABatchIsRepeated) {
  for (const auto open : {openPythonQueue, openPythonDataset}) {
    const auto stream = open(options(""));
    const HostBatch one = next(*stream), two = next(*stream);
    EXPECT_TRUE(one.images.equal(two.images));
    EXPECT_TRUE(one.labels.equal(two.labels));
  }
}

TEST_F(PythonTest, FailuresAreNamed) {
  const auto expect = [&](const char* function, const std::string& part) {
    const std::string text = failureOf(function);
    EXPECT_NE(text.find(part), std::string::npos) << function << ": " << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    EXPECT_EQ(text.find("--input=python-queue:"), 0U) << text;
  };
  expect("fails", "ValueError: the disk is gone");
  expect("large", "more than 1000 bytes");
  expect("words", "TypeError");
  expect("dies", "exit code 9");
  expect("missing", "AttributeError");
}

TEST_F(PythonTest, AGeneratorOfOneProcessIsNotShared) {
  const auto stream = openPythonQueue(options("batches", 2));
  const std::string text = textOfFailure<DataError>([&] { stream->next(60'000); });
  EXPECT_NE(text.find("takes no worker and workers"), std::string::npos) << text;
}

TEST_F(PythonTest, AMissingInterpreterIsNamed) {
  setenv("TANDEM_PYTHON", "no-such-python", 1);
  const std::string text = failureOf("batches");
  unsetenv("TANDEM_PYTHON");
  EXPECT_NE(text.find("'no-such-python' is not there"), std::string::npos) << text;
}

}  // namespace
}  // namespace tandem
