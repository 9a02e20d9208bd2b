#include "formats/weights/pickle.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <unordered_map>

#include "base/utf8.h"
#include "formats/io/little_endian.h"

namespace tandem {
namespace {

using Kind = PickleValue::Kind;

constexpr std::string_view orderedDictName = "collections.OrderedDict";
constexpr uint8_t protocolOpcode = 0x80, protocol = 2, stopOpcode = '.';
constexpr size_t longestGlobal = 256;

/// Interprets opcodes without running anything. Each opcode checks the remaining bytes and the stack before it reads.
/// Values refer to each other by number, so a container that contains itself needs no recursion here.
class PickleMachine {
 public:
  PickleMachine(std::span<const uint8_t> bytes, const PickleGlobals& globals, const PickleLimits& limits)
      : bytes_(bytes), globals_(globals), limits_(limits) {}

  Result<Pickle> run() {
    if (bytes_.size() < 2 || bytes_[0] != protocolOpcode || bytes_[1] != protocol) {
      return parseError(0, "not a pickle of protocol 2, which torch.save writes");
    }
    at_ = 2;
    for (uint64_t count = 0; !stopped_; ++count) {
      if (count == limits_.opcodes) return parseError(at_, "the pickle has more than ", limits_.opcodes, " opcodes");
      if (!step()) return *error_;
    }
    if (at_ != bytes_.size()) return parseError(at_, bytes_.size() - at_, " bytes follow the end of the pickle");
    return std::move(pickle_);
  }

 private:
  struct Opcode {
    uint8_t code;
    const char* name;
    bool (PickleMachine::*run)();
  };
  static const Opcode opcodes[];

  bool step() {
    start_ = at_;
    if (at_ == bytes_.size()) return refuse("the pickle ends without STOP; truncated");
    const uint8_t code = bytes_[at_++];
    const Opcode* const opcode = find(code);
    if (opcode == nullptr) {
      return refuse("opcode ", int{code}, " of the pickle is not one that a state dict needs; save state_dict() alone");
    }
    name_ = opcode->name;
    return (this->*opcode->run)();
  }

  static const Opcode* find(uint8_t code);

  template <class... Parts>
  bool refuse(const Parts&... parts) {
    error_ = parseError(start_, parts...);
    return false;
  }

  // Operands of opcodes.

  bool has(uint64_t count) {
    return count <= bytes_.size() - at_ || refuse(name_, " of the pickle reads beyond its end; truncated");
  }
  template <class Word>
  bool take(Word& word) {
    if (!has(sizeof(Word))) return false;
    word = littleEndian<Word>(bytes_, at_);
    at_ += sizeof(Word);
    return true;
  }
  bool takeText(uint64_t length, std::string_view& text) {
    if (!has(length)) return false;
    text = {reinterpret_cast<const char*>(bytes_.data()) + at_, length};
    at_ += length;
    return isUtf8(text) || refuse(name_, ": the text is not UTF-8");
  }
  bool takeLine(std::string_view& line) {
    const auto rest = bytes_.subspan(at_, std::min(bytes_.size() - at_, longestGlobal));
    const auto end = std::ranges::find(rest, uint8_t{'\n'});
    if (end == rest.end()) return refuse(name_, ": no name of at most ", longestGlobal, " bytes follows");
    line = {reinterpret_cast<const char*>(rest.data()), static_cast<size_t>(end - rest.begin())};
    at_ += line.size() + 1;
    return true;
  }

  // The stack. Values below the last mark cannot be reached.

  size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  bool needs(size_t count) {
    return stack_.size() - floor() >= count || refuse(name_, " takes more from the stack than is there");
  }
  PickleValue& top(size_t below = 0) { return pickle_.values[stack_[stack_.size() - 1 - below]]; }
  PickleId pop() {
    const PickleId id = stack_.back();
    stack_.pop_back();
    return id;
  }
  bool push(PickleValue value) {
    if (pickle_.values.size() == limits_.values) return refuse("the pickle has more than ", limits_.values, " values");
    value.offset = static_cast<uint32_t>(std::min<uint64_t>(start_, UINT32_MAX));
    pickle_.values.push_back(std::move(value));
    stack_.push_back(static_cast<PickleId>(pickle_.values.size() - 1));
    return true;
  }
  bool pushKind(Kind kind) { return push({.kind = kind, .text = {}, .items = {}}); }
  bool pushInteger(int64_t number, Kind kind = Kind::integer) {
    return push({.kind = kind, .integer = number, .text = {}, .items = {}});
  }
  /// Pops the values above the last mark, and the mark.
  bool popMarked(std::vector<PickleId>& items) {
    if (marks_.empty()) return refuse(name_, " without a mark");
    items.assign(stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()), stack_.end());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return true;
  }

  // The opcodes.

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
  bool real() {
    // No part of a state dict that is read depends on a real number.
    uint64_t ignored = 0;
    return take(ignored) && pushKind(Kind::real);
  }
  bool longNumber() {
    uint8_t length = 0;
    if (!take(length)) return false;
    if (length > 8) return refuse(name_, ": an integer of ", int{length}, " bytes; at most 8 are read");
    if (!has(length)) return false;
    uint64_t word = 0;
    for (uint8_t i = 0; i < length; ++i) word |= uint64_t{bytes_[at_ + i]} << (8 * i);
    // The bytes are a little-endian two's complement of any length, so the sign is extended to 64 bits.
    const bool negative = length > 0 && length < 8 && (bytes_[at_ + length - 1] & 0x80) != 0;
    if (negative) word |= ~uint64_t{0} << (8 * length);
    at_ += length;
    return pushInteger(std::bit_cast<int64_t>(word));
  }
  bool text() {
    uint32_t length = 0;
    std::string_view content;
    return take(length) && takeText(length, content) && push({.kind = Kind::text, .text = content, .items = {}});
  }

  bool mark() {
    if (marks_.size() == limits_.marks) return refuse("the pickle has more than ", limits_.marks, " nested marks");
    marks_.push_back(stack_.size());
    return true;
  }
  bool tuple() {
    PickleValue value{.kind = Kind::tuple, .text = {}, .items = {}};
    return popMarked(value.items) && push(std::move(value));
  }
  template <size_t count>
  bool shortTuple() {
    if (!needs(count)) return false;
    PickleValue value{.kind = Kind::tuple, .text = {}, .items = {stack_.end() - count, stack_.end()}};
    stack_.resize(stack_.size() - count);
    return push(std::move(value));
  }

  template <class Index>
  bool put() {
    Index index{};
    if (!take(index) || !needs(1)) return false;
    // The index is any 32-bit number. A map keeps the memory proportional to the entries, not to the largest index.
    memo_[index] = stack_.back();
    return memo_.size() <= limits_.values ||
           refuse("the memo of the pickle has more than ", limits_.values, " entries");
  }
  template <class Index>
  bool get() {
    Index index{};
    if (!take(index)) return false;
    const auto found = memo_.find(index);
    if (found == memo_.end()) return refuse(name_, ": the memo has no entry ", uint32_t{index});
    stack_.push_back(found->second);
    return true;
  }

  bool append() {
    if (!needs(2)) return false;
    return appendAll({pop()});
  }
  bool appends() {
    std::vector<PickleId> items;
    return popMarked(items) && needs(1) && appendAll(items);
  }
  bool appendAll(const std::vector<PickleId>& items) {
    if (top().kind != Kind::list) return refuse(name_, " on ", nameOf(top().kind), "; only a list can grow so");
    top().items.insert(top().items.end(), items.begin(), items.end());
    return true;
  }

  bool setItem() {
    if (!needs(3)) return false;
    const PickleId value = pop();
    const PickleId key = pop();
    return setAll({key, value});
  }
  bool setItems() {
    std::vector<PickleId> items;
    return popMarked(items) && needs(1) && setAll(items);
  }
  bool setAll(const std::vector<PickleId>& items) {
    if (!top().isDict()) return refuse(name_, " on ", nameOf(top().kind), "; only a dict has items");
    if (items.size() % 2 != 0) return refuse(name_, ": a key without a value");
    for (size_t i = 0; i < items.size(); i += 2) {
      const Kind kind = pickle_.values[items[i]].kind;
      if (kind != Kind::text && kind != Kind::integer) return refuse(name_, ": the key is ", nameOf(kind));
    }
    top().items.insert(top().items.end(), items.begin(), items.end());
    return true;
  }

  bool global() {
    std::string_view module, attribute;
    if (!takeLine(module) || !takeLine(attribute)) return false;
    const std::string name = concat(module, '.', attribute);
    const std::string_view* const allowed = allowedGlobal(name);
    if (allowed == nullptr) {
      return refuse("GLOBAL names '", escaped(name),
                    "', which a state dict does not need and which is never loaded; save ",
                    "model.state_dict() instead of a model");
    }
    return push({.kind = Kind::global, .text = *allowed, .items = {}});
  }
  const std::string_view* allowedGlobal(std::string_view name) const {
    if (name == orderedDictName) return &orderedDictName;
    for (const auto list : {globals_.named, globals_.callable}) {
      const auto found = std::ranges::find(list, name);
      if (found != list.end()) return &*found;
    }
    return nullptr;
  }

  bool reduce() {
    if (!needs(2)) return false;
    const PickleId arguments = pop();
    const PickleId function = pop();
    const PickleValue& called = pickle_.values[function];
    if (called.kind != Kind::global) return refuse("REDUCE calls ", nameOf(called.kind));
    if (pickle_.values[arguments].kind != Kind::tuple) return refuse("REDUCE without a tuple of arguments");
    // OrderedDict() is the only call whose result is known here. Other calls are recorded for the caller.
    if (called.text == orderedDictName) {
      if (!pickle_.values[arguments].items.empty()) return refuse("REDUCE: OrderedDict with arguments");
      return pushKind(Kind::orderedDict);
    }
    if (std::ranges::find(globals_.callable, called.text) == globals_.callable.end()) {
      return refuse("REDUCE calls '", called.text, "', which is never called");
    }
    return push({.kind = Kind::reduced, .text = {}, .items = {function, arguments}});
  }
  /// The state of an OrderedDict is torch's _metadata. It is dropped.
  bool build() {
    if (!needs(2)) return false;
    const PickleValue& state = pickle_.values[pop()];
    if (top().kind != Kind::orderedDict || !state.isDict()) {
      return refuse("BUILD gives ", nameOf(top().kind), " ", nameOf(state.kind),
                    " for a state; only an OrderedDict has one");
    }
    return true;
  }
  bool persistent() {
    if (!needs(1)) return false;
    const PickleId id = pop();
    if (pickle_.values[id].kind != Kind::tuple) return refuse("BINPERSID with ", nameOf(pickle_.values[id].kind));
    return push({.kind = Kind::persistent, .text = {}, .items = {id}});
  }
  bool stop() {
    if (!marks_.empty() || stack_.size() != 1) {
      return refuse("the pickle ends with ", stack_.size(), " values and ", marks_.size(), " marks on its stack");
    }
    pickle_.root = stack_.back();
    return stopped_ = true;
  }

  std::span<const uint8_t> bytes_;
  const PickleGlobals& globals_;
  const PickleLimits& limits_;
  uint64_t at_ = 0, start_ = 0;  // offset of the next byte; offset of the current opcode
  const char* name_ = "";
  bool stopped_ = false;
  std::vector<PickleId> stack_;
  std::vector<size_t> marks_;  // height of the stack at each mark
  std::unordered_map<uint32_t, PickleId> memo_;
  Pickle pickle_;
  std::optional<ParseError> error_;
};

constexpr PickleMachine::Opcode PickleMachine::opcodes[] = {
    {'(', "MARK", &PickleMachine::mark},
    {'N', "NONE", &PickleMachine::none},
    {0x88, "NEWTRUE", &PickleMachine::yes},
    {0x89, "NEWFALSE", &PickleMachine::no},
    {'J', "BININT", &PickleMachine::number<int32_t>},
    {'K', "BININT1", &PickleMachine::number<uint8_t>},
    {'M', "BININT2", &PickleMachine::number<uint16_t>},
    {0x8A, "LONG1", &PickleMachine::longNumber},
    {'G', "BINFLOAT", &PickleMachine::real},
    {'X', "BINUNICODE", &PickleMachine::text},
    {')', "EMPTY_TUPLE", &PickleMachine::emptyTuple},
    {0x85, "TUPLE1", &PickleMachine::shortTuple<1>},
    {0x86, "TUPLE2", &PickleMachine::shortTuple<2>},
    {0x87, "TUPLE3", &PickleMachine::shortTuple<3>},
    {'t', "TUPLE", &PickleMachine::tuple},
    {']', "EMPTY_LIST", &PickleMachine::emptyList},
    {'a', "APPEND", &PickleMachine::append},
    {'e', "APPENDS", &PickleMachine::appends},
    {'}', "EMPTY_DICT", &PickleMachine::emptyDict},
    {'s', "SETITEM", &PickleMachine::setItem},
    {'u', "SETITEMS", &PickleMachine::setItems},
    {'q', "BINPUT", &PickleMachine::put<uint8_t>},
    {'r', "LONG_BINPUT", &PickleMachine::put<uint32_t>},
    {'h', "BINGET", &PickleMachine::get<uint8_t>},
    {'j', "LONG_BINGET", &PickleMachine::get<uint32_t>},
    {'c', "GLOBAL", &PickleMachine::global},
    {'R', "REDUCE", &PickleMachine::reduce},
    {'b', "BUILD", &PickleMachine::build},
    {'Q', "BINPERSID", &PickleMachine::persistent},
    {stopOpcode, "STOP", &PickleMachine::stop},
};

const PickleMachine::Opcode* PickleMachine::find(uint8_t code) {
  const auto row = std::ranges::find(opcodes, code, &Opcode::code);
  return row == std::end(opcodes) ? nullptr : row;
}

}  // namespace

const char* nameOf(PickleValue::Kind kind) {
  switch (kind) {
    case Kind::none:
      return "None";
    case Kind::boolean:
      return "a boolean";
    case Kind::integer:
      return "an integer";
    case Kind::real:
      return "a float";
    case Kind::text:
      return "a text";
    case Kind::tuple:
      return "a tuple";
    case Kind::list:
      return "a list";
    case Kind::dict:
    case Kind::orderedDict:
      return "a dict";
    case Kind::global:
      return "a global";
    case Kind::reduced:
      return "an object";
    case Kind::persistent:
      return "a storage";
  }
  return "a value";
}

Result<Pickle> parsePickle(std::span<const uint8_t> bytes, const PickleGlobals& globals, const PickleLimits& limits) {
  return PickleMachine(bytes, globals, limits).run();
}

}  // namespace tandem
