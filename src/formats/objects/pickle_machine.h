#pragma once

#include <unordered_map>

#include "formats/objects/pickle.h"
#include "formats/objects/pickle_input.h"

namespace tandem {

/// Interprets opcodes without running anything. Each opcode checks the remaining bytes and the stack before it reads.
/// Values refer to each other by number, so a container that contains itself needs no recursion here. The opcodes are
/// those of Python's Lib/pickletools.py.
class PickleMachine : private PickleInput {
 public:
  static constexpr uint8_t protocolOpcode = 0x80, oldestProtocol = 2, newestProtocol = 5;

  /// `rules` and `limits` must outlive it.
  PickleMachine(std::span<const uint8_t> bytes, const PickleRules& rules, const PickleLimits& limits)
      : PickleInput(bytes), rules_(rules), limits_(limits) {}

  Result<Pickle> run();

 private:
  using Kind = PickleValue::Kind;

  struct Opcode {
    uint8_t code;
    uint8_t sets;  // of PickleOpcodes
    const char* name;
    bool (PickleMachine::*run)();
  };
  static const Opcode opcodes[];

  bool step();
  const Opcode* find(uint8_t code) const;

  // The stack. Values below the last mark cannot be reached.

  size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  bool needs(size_t count) {
    return stack_.size() - floor() >= count || refuse(name_, " takes more from the stack than is there");
  }
  PickleValue& top(size_t below = 0) { return pickle_.values[stack_[stack_.size() - 1 - below]]; }
  PickleId pop();
  bool push(PickleValue value);
  bool pushKind(Kind kind) { return push({.kind = kind, .text = {}, .items = {}}); }
  bool pushInteger(int64_t number, Kind kind = Kind::integer) {
    return push({.kind = kind, .integer = number, .text = {}, .items = {}});
  }
  /// Pops the values above the last mark, and the mark.
  bool popMarked(std::vector<PickleId>& items);

  // Opcodes of plain values.

  bool none() { return pushKind(Kind::none); }
  bool yes() { return pushInteger(1, Kind::boolean); }
  bool no() { return pushInteger(0, Kind::boolean); }
  bool emptyTuple() { return pushKind(Kind::tuple); }
  bool emptyList() { return pushKind(Kind::list); }
  bool emptyDict() { return pushKind(Kind::dict); }
  template <class Word>
  bool number() {
    Word word{};
    return take(word) && pushInteger(word);
  }
  bool real();
  bool longNumber();
  template <class Length, Kind kind>
  bool string() {
    Length length{};
    std::string_view content;
    if (!take(length) || !takeBytes(length, content)) return false;
    if (kind == Kind::text && !isUtf8(content)) return refuse(name_, ": the text is not UTF-8");
    return push({.kind = kind, .text = content, .items = {}});
  }

  // Opcodes of containers, and of the memo.

  bool mark();
  bool tuple();
  template <size_t count>
  bool shortTuple() {
    if (!needs(count)) return false;
    PickleValue value{.kind = Kind::tuple, .text = {}, .items = {stack_.end() - count, stack_.end()}};
    stack_.resize(stack_.size() - count);
    return push(std::move(value));
  }
  bool append();
  bool appends();
  bool appendAll(const std::vector<PickleId>& items);
  bool setItem();
  bool setItems();
  bool setAll(const std::vector<PickleId>& items);

  template <class Index>
  bool put() {
    Index index{};
    return take(index) && remember(index);
  }
  bool memoize() { return remember(static_cast<uint32_t>(memo_.size())); }
  bool remember(uint32_t index);
  template <class Index>
  bool get() {
    Index index{};
    return take(index) && recall(index);
  }
  bool recall(uint32_t index);

  // Opcodes of Python objects.

  bool global();
  bool stackGlobal();
  bool pushGlobal(std::string_view module, std::string_view attribute);
  bool reduce();
  bool decode(const PickleValue& arguments);
  bool build();
  bool persistent();

  bool frame();
  bool stop();

  const PickleRules& rules_;
  const PickleLimits& limits_;
  bool stopped_ = false;
  std::vector<PickleId> stack_;
  std::vector<size_t> marks_;  // height of the stack at each mark
  std::unordered_map<uint32_t, PickleId> memo_;
  uint64_t decodedFrom_ = 0;  // bytes of the texts that were decoded
  Pickle pickle_;
};

}  // namespace tandem
