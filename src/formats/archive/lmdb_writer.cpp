#include "formats/archive/lmdb_writer.h"

#include <lmdb.h>

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "formats/io/file.h"
#include "formats/io/free_space.h"

namespace tandem {
namespace {

/// Of a transaction, which keeps its pages in memory until it is committed.
constexpr uint64_t transactionBytes = uint64_t{1} << 24;
/// A page holds one value that is a little longer than half of it; the tree above needs less than the third part.
constexpr uint64_t leastFill = 3;
/// Of an entry, beside its key and its value, at most.
constexpr uint64_t headBytes = 32;

FileSum sumOf(const std::string& path) {
  constexpr uint64_t blockBytes = uint64_t{1} << 20;
  const ReadableFile file(path);
  std::vector<uint8_t> block;
  Sha256 sum;
  for (uint64_t at = 0; at < file.size(); at += block.size()) {
    block.resize(std::min(blockBytes, file.size() - at));
    file.read(at, block);
    sum.add(block);
  }
  return {file.size(), sum.text()};
}

}  // namespace

struct LmdbWriter::Library {
  MDB_env* environment = nullptr;
  MDB_txn* transaction = nullptr;
  MDB_dbi database = 0;

  ~Library() {
    if (transaction != nullptr) mdb_txn_abort(transaction);
    if (environment != nullptr) mdb_env_close(environment);
  }
};

LmdbWriter::LmdbWriter(std::string path) : path_(std::move(path)), file_(path_), library_(std::make_unique<Library>()) {
  require(mdb_env_create(&library_->environment), "write");
  // Nobody else knows the file yet, and commit() brings it to disk.
  constexpr unsigned flags = MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC;
  require(mdb_env_open(library_->environment, file_.openPath().c_str(), flags, 0600), "write");
}

LmdbWriter::~LmdbWriter() = default;

void LmdbWriter::require(int code, const char* action) const {
  if (code != 0) throwStorageError(action, path_, mdb_strerror(code));
}

// The map is of addresses alone. It is made large enough before each transaction, which could not be enlarged.
void LmdbWriter::begin(uint64_t bytes) {
  MDB_envinfo info{};
  MDB_stat stat{};
  require(mdb_env_info(library_->environment, &info), "write");
  require(mdb_env_stat(library_->environment, &stat), "write");
  const uint64_t there = (info.me_last_pgno + 1) * stat.ms_psize;
  const uint64_t needed = std::bit_ceil(there + leastFill * std::max(bytes, 2 * transactionBytes));
  if (needed > info.me_mapsize) require(mdb_env_set_mapsize(library_->environment, needed), "find addresses for");
  require(mdb_txn_begin(library_->environment, nullptr, 0, &library_->transaction), "write");
  require(mdb_dbi_open(library_->transaction, nullptr, 0, &library_->database), "write");
}

void LmdbWriter::end() {
  MDB_txn* const transaction = std::exchange(library_->transaction, nullptr);
  require(mdb_txn_commit(transaction), "write");  // it is gone, whatever comes back
  waiting_ = 0;
}

void LmdbWriter::add(std::string_view key, std::span<const uint8_t> value) {
  const uint64_t bytes = key.size() + value.size() + headBytes;
  if (library_->transaction != nullptr && waiting_ + bytes > transactionBytes) end();
  if (library_->transaction == nullptr) begin(bytes);
  MDB_val name{key.size(), const_cast<char*>(key.data())};
  MDB_val content{value.size(), const_cast<uint8_t*>(value.data())};
  require(mdb_put(library_->transaction, library_->database, &name, &content, MDB_APPEND), "write");
  waiting_ += bytes;
}

FileSum LmdbWriter::commit() {
  if (library_->transaction != nullptr) end();
  library_.reset();
  file_.commit();
  return sumOf(path_);
}

}  // namespace tandem
