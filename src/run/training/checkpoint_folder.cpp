#include "run/training/checkpoint_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/log.h"
#include "base/number.h"
#include "base/text.h"
#include "formats/io/atomic_file.h"
#include "formats/io/checksum.h"
#include "formats/io/file.h"
#include "formats/io/free_space.h"
#include "machine/cpu/host_facts.h"
#include "measure/record/training_json.h"
#include "trace/fault.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int currentVersion = 1;
constexpr uint64_t largestManifest = uint64_t{1} << 28, largestTensors = uint64_t{1} << 36;
constexpr std::string_view prefix = "step-", unfinished = ".part", replaced = ".old";
constexpr const char *manifestFile = "manifest.json", *stateFile = "state.safetensors",
                     *replicasFile = "replicas.safetensors", *lockFile = "lock";

std::string folderNameOf(int64_t step) {
  const std::string digits = concat(step);
  constexpr size_t width = 9;
  return concat(prefix, std::string(width - std::min(width, digits.size()), '0'), digits);
}

std::optional<int64_t> stepOf(const std::string& name) {
  return name.starts_with(prefix) ? numberIn<int64_t>(name.substr(prefix.size())) : std::nullopt;
}

/// The folder's entry is on disk when this returns.
void syncFolder(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && ::fsync(descriptor) == 0;
  const int error = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (!synced) throwStorageError("bring to disk", path, std::strerror(error));
}

void removeAll(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) throwStorageError("remove", path, error.message());
}

void renameTo(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) throwStorageError("rename", from, std::strerror(errno));
}

/// Renames a folder. One that has the name already takes that of `part`, and is removed: at any time one has the name.
/// On a file system that cannot exchange names, the old one is at PATH.old in between (removeLeftOvers()).
void giveName(const std::string& part, const std::string& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return renameTo(part, path);
  if (::renameat2(AT_FDCWD, part.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) == 0) return removeAll(part);
  if (errno != EINVAL && errno != ENOSYS) throwStorageError("rename", part, std::strerror(errno));
  const std::string old = concat(path, replaced);
  removeAll(old);
  renameTo(path, old);
  renameTo(part, path);
  syncFolder(fs::path(path).parent_path());
  removeAll(old);
}

json sumOf(const std::string& bytes) { return {{"bytes", bytes.size()}, {"sha256", sha256Of(asBytes(bytes))}}; }

/// "model.fc.weight", "optimizer.0.fc.weight".
std::string packedState(const TrainingState& state) {
  StateTensors all;
  for (const auto& [name, tensor] : state.parameters) all.emplace_back(concat("model.", name), tensor);
  for (size_t which = 0; which < state.optimizer.size(); ++which) {
    for (const auto& [name, tensor] : state.optimizer[which]) {
      all.emplace_back(concat("optimizer.", which, '.', name), tensor);
    }
  }
  return packed(all);
}

/// "0.statistics.bn1.running_mean".
std::string packedReplicas(const TrainingState& state) {
  StateTensors all;
  for (size_t replica = 0; replica < state.replicas.size(); ++replica) {
    for (const auto& [name, tensor] : state.replicas[replica]) all.emplace_back(concat(replica, '.', name), tensor);
  }
  return packed(all);
}

/// Splits "7.NAME" at its dot, and puts the tensor under NAME into groups[7].
void putInGroup(std::vector<StateTensors>& groups, std::string_view name, const at::Tensor& tensor,
                const std::string& path) {
  constexpr int64_t most = 1 << 16;
  const size_t dot = std::min(name.find('.'), name.size());
  const auto group = numberWithin(std::string(name.substr(0, dot)), 0, most);
  if (!group || dot == name.size()) throw CheckpointError(concat(path, ": unknown tensor '", name, "'"));
  if (groups.size() <= static_cast<size_t>(*group)) groups.resize(static_cast<size_t>(*group) + 1);
  groups[static_cast<size_t>(*group)].emplace_back(name.substr(dot + 1), tensor);
}

/// The bytes of a file of a checkpoint, which has this size and sum.
std::vector<uint8_t> checkedBytes(const std::string& path, const json& sum) {
  auto bytes = readFile(path, largestTensors);
  const auto size = sum.at("bytes").get<uint64_t>();
  if (bytes.size() != size) throw CheckpointError(concat(path, " has ", bytes.size(), " bytes, and was ", size));
  if (sha256Of(bytes) != sum.at("sha256").get<std::string>()) {
    throw CheckpointError(concat(path, ": its bytes are not those that were written (sha256)"));
  }
  return bytes;
}

TrainingState stateFrom(const std::string& path, const json& sums) {
  constexpr std::string_view model = "model.", optimizer = "optimizer.";
  const std::string file = concat(path, '/', stateFile), replicas = concat(path, '/', replicasFile);
  TrainingState state;
  for (const auto& [name, tensor] : unpacked(checkedBytes(file, sums.at(stateFile)), file)) {
    if (name.starts_with(model)) {
      state.parameters.emplace_back(name.substr(model.size()), tensor);
    } else if (name.starts_with(optimizer)) {
      putInGroup(state.optimizer, std::string_view(name).substr(optimizer.size()), tensor, file);
    } else {
      throw CheckpointError(concat(file, ": unknown tensor '", name, "'"));
    }
  }
  for (const auto& [name, tensor] : unpacked(checkedBytes(replicas, sums.at(replicasFile)), replicas)) {
    putInGroup(state.replicas, name, tensor, replicas);
  }
  return state;
}

json toJson(const CheckpointFacts& facts) {
  JsonWriter record;
  describe(record, facts.record);
  return {{"format", "tandem-checkpoint"},
          {"version", currentVersion},
          {"step", facts.step},
          {"rate", facts.rate},
          {"ranks", facts.ranks},
          {"replicas", facts.replicas},
          {"batch", facts.batch},
          {"config", facts.config},
          {"data", facts.data},
          {"program", facts.program},
          {"kernels", facts.kernels},
          {"shares", facts.shares},
          {"training", record.take()}};
}

CheckpointFacts factsFrom(const json& object) {
  CheckpointFacts facts{.step = object.at("step"),
                        .rate = object.at("rate"),
                        .ranks = object.at("ranks"),
                        .replicas = object.at("replicas"),
                        .batch = object.at("batch"),
                        .config = object.at("config"),
                        .data = object.at("data"),
                        .program = object.at("program"),
                        .kernels = object.at("kernels"),
                        .shares = object.value("shares", std::vector<int64_t>()),
                        .record = {}};
  JsonReader reader(object.at("training"), "training");
  describe(reader, facts.record);
  return facts;
}

/// Throws CheckpointError or DataError if anything of it is not as it was written.
Checkpoint readCheckpoint(const std::string& path) {
  const std::string file = concat(path, '/', manifestFile);
  const auto bytes = readFile(file, largestManifest);
  try {
    const auto object = json::parse(bytes);
    const int version = object.at("version");
    if (version > currentVersion) {
      throw CheckpointError(concat(file, ": version ", version, " is newer than this program"));
    }
    Checkpoint checkpoint{.path = path, .facts = factsFrom(object), .state = stateFrom(path, object.at("files"))};
    checkpoint.state.step = checkpoint.facts.step;
    return checkpoint;
  } catch (const json::exception& failure) {
    throw CheckpointError(concat(file, ": ", failure.what()));
  }
}

}  // namespace

CheckpointFolder::CheckpointFolder(std::string path, int64_t keep) : path_(std::move(path)), keep_(keep) {
  makeFolder(path_);
  lock();
  removeLeftOvers();
}

CheckpointFolder::~CheckpointFolder() {
  if (lock_ >= 0) ::close(lock_);
}

// The lock goes with the process, however it ends. The text is for people. File systems without locks are used without.
void CheckpointFolder::lock() {
  const std::string file = pathOf(lockFile);
  lock_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock_ < 0) throwStorageError("open", file, std::strerror(errno));
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    constexpr uint64_t longest = 256;
    const auto said = readFileHead(file, longest);
    const std::string who(said.begin(), said.end());
    throw UsageError(concat("--checkpoint=", path_, ": another training uses the folder (", who,
                            "); wait for it, or give another folder"));
  }
  const std::string text = concat("process ", getpid(), " on ", hostName());
  if (::ftruncate(lock_, 0) != 0 || ::pwrite(lock_, text.data(), text.size(), 0) != std::ssize(text)) {
    throwStorageError("write", file, std::strerror(errno));
  }
}

void CheckpointFolder::removeLeftOvers() const {
  for (const auto& entry : fs::directory_iterator(path_)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(prefix)) continue;
    if (name.ends_with(replaced)) {
      const std::string path = pathOf(name.substr(0, name.size() - replaced.size()));
      if (!fs::exists(path)) {
        renameTo(entry.path().string(), path);
        continue;
      }
    } else if (!name.ends_with(unfinished)) {
      continue;
    }
    logInfo(concat("note: removed ", entry.path().string(), ", which an interrupted save had left"));
    removeAll(entry.path());
  }
}

// Later steps are of a training that went on from an earlier checkpoint, or counts other batches. So the newest is the
// one just written, and an intact one is never removed for one that is not.
void CheckpointFolder::removeOthers(int64_t saved) const {
  auto steps = checkpointSteps(path_);
  for (; steps.back() > saved; steps.pop_back()) removeAll(pathOf(folderNameOf(steps.back())));
  for (size_t i = 0; i + static_cast<size_t>(keep_) < steps.size(); ++i) removeAll(pathOf(folderNameOf(steps[i])));
}

void CheckpointFolder::save(const CheckpointFacts& facts, const TrainingState& state) {
  const std::string path = pathOf(folderNameOf(facts.step)), part = concat(path, unfinished);
  removeAll(part);
  makeFolder(part);
  const std::string tensors = packedState(state), replicas = packedReplicas(state);
  json manifest = toJson(facts);
  manifest["files"] = {{stateFile, sumOf(tensors)}, {replicasFile, sumOf(replicas)}};
  faultAt(FaultPhase::write);
  writeAtomically(concat(part, '/', stateFile), asBytes(tensors));
  writeAtomically(concat(part, '/', replicasFile), asBytes(replicas));
  writeAtomically(concat(part, '/', manifestFile), asBytes(manifest.dump(1)));
  syncFolder(part);
  faultAt(FaultPhase::rename);
  giveName(part, path);
  syncFolder(path_);
  removeOthers(facts.step);
}

std::vector<int64_t> checkpointSteps(const std::string& folder) {
  std::vector<int64_t> steps;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (const auto step = stepOf(entry.path().filename()); step && entry.is_directory(error)) steps.push_back(*step);
  }
  std::ranges::sort(steps);
  return steps;
}

std::optional<Checkpoint> newestCheckpoint(const std::string& folder) {
  auto steps = checkpointSteps(folder);
  if (steps.empty()) return std::nullopt;
  std::string last;
  for (; !steps.empty(); steps.pop_back()) {
    const std::string path = concat(folder, '/', folderNameOf(steps.back()));
    try {
      return readCheckpoint(path);
    } catch (const Error& damaged) {
      logWarning(last = concat("checkpoint ", path, " is damaged and passed over: ", damaged.what()));
    }
  }
  throw CheckpointError(concat("no checkpoint in ", folder, " is intact; the oldest: ", last));
}

}  // namespace tandem
