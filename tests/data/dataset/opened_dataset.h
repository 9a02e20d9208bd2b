#pragma once

#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "data/dataset/dataset.h"
#include "data/dataset/test_folder.h"

namespace tandem {

inline void expectRefused(const std::string& folder, const std::vector<std::string>& parts) {
  try {
    openDataset(folder);
    ADD_FAILURE() << "opened; expected: " << parts.front();
  } catch (const DataError& error) {
    const std::string text = error.what();
    for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks: " << part;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
}

struct Labelled {
  Bytes image, label;
};

inline Labelled at(const Dataset& dataset, int64_t index) {
  const DatasetInfo& info = dataset.info();
  Labelled read{Bytes(info.height * info.width * info.channels), Bytes(labelBytes(*info.labels, info.classes))};
  Bytes memory;
  const Sample sample = dataset.read(index, memory, read.label);
  read.image.assign(sample.bytes.begin(), sample.bytes.end());
  return read;
}

inline Bytes imageOf(const Dataset& dataset, int64_t index) { return at(dataset, index).image; }

inline int64_t labelOf(const Dataset& dataset, int64_t index) {
  int64_t label = -1;
  std::memcpy(&label, at(dataset, index).label.data(), sizeof label);
  return label;
}

inline void expectProbedAsOpened(const std::string& folder) {
  const auto opened = openDataset(folder);
  const DatasetFacts probed = probeDataset(folder);
  const DatasetInfo &is = probed.info, &should = opened->info();
  EXPECT_EQ(probed.images, opened->size());
  EXPECT_EQ(std::tie(is.name, is.height, is.width, is.channels, is.classes, is.labels),
            std::tie(should.name, should.height, should.width, should.channels, should.classes, should.labels));
}

}  // namespace tandem
