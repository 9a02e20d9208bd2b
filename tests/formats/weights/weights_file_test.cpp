#include "formats/weights/weights_file.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <fstream>

#include "base/error.h"
#include "formats/weights/safetensors.h"
#include "support/pickle_writer.h"
#include "support/tests_folder.h"

// The files of tests/golden/weights are written by tests/golden/make_weights.py; values count from 0.
namespace tandem {
namespace {

std::string golden(const std::string& name) { return testsFolder() + "/golden/weights/" + name; }

const FileTensor* findTensor(const WeightsFile& file, const std::string& name) {
  for (const FileTensor& tensor : file.tensors()) {
    if (tensor.name == name) return &tensor;
  }
  ADD_FAILURE() << name << " is missing in " << file.path();
  return nullptr;
}

template <class Number>
std::vector<Number> valuesOf(const FileTensor& tensor) {
  std::vector<uint8_t> scratch;
  const auto bytes = rowMajorBytes(tensor, scratch);
  std::vector<Number> values(bytes.size() / sizeof(Number));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

template <class Number>
std::vector<Number> counting(size_t count) {
  std::vector<Number> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<Number>(i);
  return values;
}

void expectNetwork(const WeightsFile& file) {
  ASSERT_EQ(file.tensors().size(), 7U);
  for (const auto& [name, count] : {std::pair{"conv.weight", 54U},
                                    {"conv.bias", 2U},
                                    {"bn.weight", 2U},
                                    {"bn.bias", 2U},
                                    {"bn.running_mean", 2U},
                                    {"bn.running_var", 2U}}) {
    const FileTensor* tensor = findTensor(file, name);
    ASSERT_NE(tensor, nullptr);
    EXPECT_EQ(tensor->type->name, "F32");
    EXPECT_EQ(valuesOf<float>(*tensor), counting<float>(count)) << name;
  }
  const FileTensor* steps = findTensor(file, "bn.num_batches_tracked");
  ASSERT_NE(steps, nullptr);
  EXPECT_EQ(steps->type->name, "I64");
  EXPECT_TRUE(steps->shape.empty());
  EXPECT_EQ(valuesOf<int64_t>(*steps), std::vector<int64_t>{0});
  EXPECT_EQ(findTensor(file, "conv.weight")->shape, (std::vector<int64_t>{2, 3, 3, 3}));
}

TEST(WeightsFile, ReadsANetworkInEveryFormat) {
  const auto pth = WeightsFile::open(golden("network.pth"));
  EXPECT_EQ(pth.format(), "pth");
  EXPECT_EQ(pth.note(), "");
  expectNetwork(pth);
  const auto safetensors = WeightsFile::open(golden("network.safetensors"));
  EXPECT_EQ(safetensors.format(), "safetensors");
  EXPECT_EQ(safetensors.metadata().at("format"), "pt");
  expectNetwork(safetensors);
  const auto checkpoint = WeightsFile::open(golden("checkpoint.pth"));
  EXPECT_EQ(checkpoint.note(),
            "state dict under the key 'state_dict'; not read: epoch, arch, best, sizes, seed, optimizer");
  expectNetwork(checkpoint);
}

TEST(WeightsFile, ReadsEveryType) {
  for (const std::string name : {"types.pth", "types.safetensors"}) {
    const auto file = WeightsFile::open(golden(name));
    EXPECT_EQ(file.tensors().size(), name == "types.pth" ? 10U : 15U);
    for (const FileTensor& tensor : file.tensors()) {
      EXPECT_EQ(tensor.byteCount(), 6 * tensor.type->bytes) << tensor.name;
      EXPECT_EQ(countNonFinite(*tensor.type, tensor.bytes), 0U) << tensor.name;
    }
    EXPECT_EQ(valuesOf<double>(*findTensor(file, "float64")), counting<double>(6));
    EXPECT_EQ(valuesOf<int16_t>(*findTensor(file, "int16")), counting<int16_t>(6));
    EXPECT_EQ(valuesOf<uint8_t>(*findTensor(file, "bool")), (std::vector<uint8_t>{0, 1, 0, 1, 0, 1}));
    EXPECT_EQ(valuesOf<uint16_t>(*findTensor(file, "bfloat16")),
              (std::vector<uint16_t>{0, 0x3F80, 0x4000, 0x4040, 0x4080, 0x40A0}));
    EXPECT_EQ(findTensor(file, "float16")->type->name, "F16");
  }
  EXPECT_EQ(findTensor(WeightsFile::open(golden("types.safetensors")), "float8_e4m3fn")->name, "float8_e4m3fn");
}

TEST(WeightsFile, GathersStridedTensors) {
  const auto file = WeightsFile::open(golden("strided.pth"));
  EXPECT_EQ(valuesOf<float>(*findTensor(file, "transposed")), (std::vector<float>{0, 2, 4, 1, 3, 5}));
  EXPECT_EQ(valuesOf<float>(*findTensor(file, "columns")), (std::vector<float>{1, 2, 7, 8, 13, 14, 19, 20}));
  EXPECT_EQ(valuesOf<float>(*findTensor(file, "rows")).front(), 6);
  EXPECT_EQ(valuesOf<float>(*findTensor(file, "channels_last")), counting<float>(24));
  EXPECT_FALSE(findTensor(file, "channels_last")->strides.empty());
  EXPECT_EQ(valuesOf<float>(*findTensor(file, "every_other")), (std::vector<float>{0, 2, 4, 6}));
  EXPECT_TRUE(valuesOf<float>(*findTensor(file, "empty")).empty());
  EXPECT_EQ(valuesOf<float>(*findTensor(file, "scalar")), std::vector<float>{0});
  EXPECT_EQ(valuesOf<float>(*findTensor(WeightsFile::open(golden("parameter.pth")), "weight")), counting<float>(6));
}

TEST(WeightsFile, WhatItReadsItWritesAsSafetensors) {
  const std::string path = ::testing::TempDir() + "/tandem_converted.safetensors";
  for (const std::string name : {"network.pth", "checkpoint.pth", "types.pth", "strided.pth", "types.safetensors"}) {
    const auto before = WeightsFile::open(golden(name));
    writeSafetensors(path, {before.tensors().begin(), before.tensors().end()}, before.metadata());
    const auto after = WeightsFile::open(path);
    ASSERT_EQ(after.tensors().size(), before.tensors().size());
    for (const FileTensor& tensor : before.tensors()) {
      const FileTensor* same = findTensor(after, tensor.name);
      ASSERT_NE(same, nullptr);
      EXPECT_EQ(same->type, tensor.type);
      EXPECT_EQ(same->shape, tensor.shape);
      EXPECT_EQ(valuesOf<uint8_t>(*same), valuesOf<uint8_t>(tensor)) << name << ' ' << tensor.name;
    }
  }
  std::remove(path.c_str());
}

void expectRefused(const std::string& path, const std::string& part) {
  try {
    WeightsFile::open(path);
    ADD_FAILURE() << path << " not refused";
  } catch (const CheckpointError& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).find(path), 0U) << error.what();
  }
}

TEST(WeightsFile, RefusesOtherFormats) {
  expectRefused(golden("legacy.pth"),
                "convert it: python3 -c \"import torch; torch.save(torch.load('" + golden("legacy.pth"));
  expectRefused(golden("module.pth"), "GLOBAL names 'torch.nn.modules.linear.Linear'");
  expectRefused(golden("torchscript.pt"), "TorchScript");
  expectRefused(testsFolder() + "/CMakeLists.txt", "neither safetensors");
  const std::string path = ::testing::TempDir() + "/tandem_odd.pth";
  for (const auto& [content, part] : {std::pair<std::string, std::string>{"", "neither safetensors"},
                                      {"\x80\x04N.", "a Python pickle"},
                                      {"PK\x03\x04", "no end record"},
                                      {std::string("\x02\0\0\0\0\0\0\0{", 9), "but only 1 follow"},
                                      {pickled::archive("x"), "byte 0 of data.pkl"}}) {
    std::ofstream(path, std::ios::binary) << content;
    expectRefused(path, part);
  }
  std::remove(path.c_str());
  EXPECT_THROW(WeightsFile::open("/no/such/file"), DataError);
}

TEST(WeightsFile, RefusesEveryTruncation) {
  for (const std::string name : {"network.pth", "network.safetensors"}) {
    std::ifstream in(golden(name), std::ios::binary);
    const std::string content{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    const std::string path = ::testing::TempDir() + "/tandem_cut.pth";
    for (size_t size = 0; size < content.size(); size += 13) {
      std::ofstream(path, std::ios::binary) << content.substr(0, size);
      EXPECT_THROW(WeightsFile::open(path), CheckpointError) << size;
    }
    std::remove(path.c_str());
  }
}

TEST(WeightsFile, ReadsSlashesWhereAsked) {
  const std::string path = testing::TempDir() + "/tandem_slashes.safetensors";
  const std::vector<float> values{1};
  FileTensor tensor;
  tensor.name = "conv/kernel";
  tensor.type = elementTypeNamed("F32");
  tensor.shape = {1};
  tensor.bytes = {reinterpret_cast<const uint8_t*>(values.data()), sizeof(float)};
  writeSafetensors(path, {tensor}, {});
  EXPECT_THROW(WeightsFile::open(path), CheckpointError);
  EXPECT_EQ(WeightsFile::open(path, {.slashes = Slashes::inside}).tensors()[0].name, "conv/kernel");
}

TEST(WeightsFile, HasTheHashThatSha256sumPrints) {
  const std::string path = golden("network.safetensors");
  FILE* pipe = popen(("sha256sum < " + path).c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string text(64, ' ');
  EXPECT_EQ(std::fread(text.data(), 1, text.size(), pipe), text.size());
  pclose(pipe);
  EXPECT_EQ(WeightsFile::open(path).sha256(), text);
}

}  // namespace
}  // namespace tandem
