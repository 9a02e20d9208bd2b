#include "run/drift_check.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/number.h"
#include "base/text.h"
#include "comm/world.h"

namespace tandem {
namespace {

constexpr uint64_t start = 0xCBF29CE484222325ULL, prime = 0x100000001B3ULL;

/// FNV-1a over words of 8 bytes: a check is made many times, and a byte at a time would take eight times as long.
uint64_t hashOf(const at::Tensor& values) {
  const at::Tensor own = values.to(at::kCPU).contiguous();
  const auto* bytes = static_cast<const unsigned char*>(own.const_data_ptr());
  uint64_t hash = start;
  const size_t size = own.nbytes(), words = size / sizeof(uint64_t);
  for (size_t i = 0; i < words; ++i) {
    uint64_t word = 0;
    std::memcpy(&word, bytes + i * sizeof word, sizeof word);
    hash = (hash ^ word) * prime;
  }
  for (size_t i = words * sizeof(uint64_t); i < size; ++i) hash = (hash ^ bytes[i]) * prime;
  return hash;
}

std::vector<uint64_t> hashesOf(const FlatBuffers& buffers, DriftCheck::Values values) {
  std::vector<uint64_t> hashes;
  for (int i = 0; i < buffers.parameters(); ++i) {
    const Slice slice = buffers.slice(i);
    hashes.push_back(hashOf(values == DriftCheck::Values::weights ? buffers.weights(slice) : buffers.master(slice)));
  }
  return hashes;
}

uint64_t hashOf(const std::vector<uint64_t>& hashes) {
  uint64_t hash = start;
  for (const uint64_t each : hashes) hash = (hash ^ each) * prime;
  return hash;
}

std::string hashesText(const std::vector<uint64_t>& hashes) {
  std::vector<std::string> texts;
  for (const uint64_t hash : hashes) texts.push_back(std::to_string(hash));
  return join(texts, " ");
}

std::vector<uint64_t> hashesFrom(const std::string& text) {
  std::vector<uint64_t> hashes;
  for (const std::string& each : split(text, " ")) hashes.push_back(numberIn<uint64_t>(each).value());
  return hashes;
}

}  // namespace

void DriftCheck::compare(ReplicaSet::Member& member, int64_t step, Values values) {
  member.synchronize();
  if (!servesAlone_) hashes_[static_cast<size_t>(member.index())] = hashesOf(member.buffers(), values);
  member.barrier();
  if (member.index() == 0) {
    compareReplicas(member.buffers(), step);
    if (world_ != nullptr) compareRanks(member.buffers(), step);
    ++times_;
  }
  member.barrier();
}

void DriftCheck::fail(const FlatBuffers& buffers, const std::string& which, const Hashes& its, int64_t step) const {
  const Hashes& first = hashes_.front();
  int64_t differ = 0;
  std::string name;
  for (size_t i = 0; i < first.size(); ++i) {
    if (first[i] == its[i]) continue;
    if (name.empty()) name = buffers.spec(static_cast<int>(i)).name;
    ++differ;
  }
  throw InternalError(concat(which, " after step ", step, ": ", differ, " of ", first.size(),
                             " parameters differ, first ", name, "; weights must be equal to the bit"));
}

void DriftCheck::compareReplicas(const FlatBuffers& buffers, int64_t step) const {
  const std::string rank = world_ == nullptr ? ""
                                             : concat(" of rank ", world_->place().rank, " (",
                                                      world_->hosts()[static_cast<size_t>(world_->place().rank)], ')');
  for (size_t i = 1; i < hashes_.size(); ++i) {
    if (hashes_[i] == hashes_.front()) continue;
    fail(buffers, concat("replica ", i, rank, " has other weights than replica 0"), hashes_[i], step);
  }
}

// Most of the time one number a rank tells that all is well. Every rank sees the same numbers, so all ask for more, or
// none. One that only serves says nothing; the first rank is none of these.
void DriftCheck::compareRanks(const FlatBuffers& buffers, int64_t step) const {
  const auto said = world_->exchange(servesAlone_ ? "" : concat(hashOf(hashes_.front())));
  const auto agrees = [&](const std::string& text) { return text.empty() || text == said.front(); };
  if (std::ranges::all_of(said, agrees)) return;
  const auto all = world_->exchange(hashesText(hashes_.front()));
  const auto own = static_cast<size_t>(world_->place().rank);
  for (size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].empty() || all[own].empty() || all[rank] == all[own]) continue;
    const auto nameOf = [&](size_t each) {
      return concat("replica 0 of rank ", each, " (", world_->hosts()[each], ')');
    };
    fail(buffers, concat(nameOf(rank), " has other weights than ", nameOf(own)), hashesFrom(all[rank]), step);
  }
}

}  // namespace tandem
