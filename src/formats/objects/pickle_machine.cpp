#include "formats/objects/pickle_machine.h"

#include <bit>

namespace tandem {

namespace {

constexpr uint8_t ofStateDict = static_cast<uint8_t>(PickleOpcodes::ofStateDict);
constexpr uint8_t ofArrays = static_cast<uint8_t>(PickleOpcodes::ofArrays);
constexpr uint8_t ofAll = ofStateDict | ofArrays;

}  // namespace

constexpr PickleMachine::Opcode PickleMachine::opcodes[] = {
    {'(', ofAll, "MARK", &PickleMachine::mark},
    {'N', ofAll, "NONE", &PickleMachine::none},
    {0x88, ofAll, "NEWTRUE", &PickleMachine::yes},
    {0x89, ofAll, "NEWFALSE", &PickleMachine::no},
    {'J', ofAll, "BININT", &PickleMachine::number<int32_t>},
    {'K', ofAll, "BININT1", &PickleMachine::number<uint8_t>},
    {'M', ofAll, "BININT2", &PickleMachine::number<uint16_t>},
    {0x8A, ofAll, "LONG1", &PickleMachine::longNumber},
    {'G', ofStateDict, "BINFLOAT", &PickleMachine::real},
    {'X', ofAll, "BINUNICODE", &PickleMachine::string<uint32_t, Kind::text>},
    {0x8C, ofArrays, "SHORT_BINUNICODE", &PickleMachine::string<uint8_t, Kind::text>},
    {0x8D, ofArrays, "BINUNICODE8", &PickleMachine::string<uint64_t, Kind::text>},
    {'U', ofArrays, "SHORT_BINSTRING", &PickleMachine::string<uint8_t, Kind::bytes>},
    {'T', ofArrays, "BINSTRING", &PickleMachine::string<uint32_t, Kind::bytes>},
    {'C', ofArrays, "SHORT_BINBYTES", &PickleMachine::string<uint8_t, Kind::bytes>},
    {'B', ofArrays, "BINBYTES", &PickleMachine::string<uint32_t, Kind::bytes>},
    {0x8E, ofArrays, "BINBYTES8", &PickleMachine::string<uint64_t, Kind::bytes>},
    {0x96, ofArrays, "BYTEARRAY8", &PickleMachine::string<uint64_t, Kind::bytes>},
    {')', ofAll, "EMPTY_TUPLE", &PickleMachine::emptyTuple},
    {0x85, ofAll, "TUPLE1", &PickleMachine::shortTuple<1>},
    {0x86, ofAll, "TUPLE2", &PickleMachine::shortTuple<2>},
    {0x87, ofAll, "TUPLE3", &PickleMachine::shortTuple<3>},
    {'t', ofAll, "TUPLE", &PickleMachine::tuple},
    {']', ofAll, "EMPTY_LIST", &PickleMachine::emptyList},
    {'a', ofAll, "APPEND", &PickleMachine::append},
    {'e', ofAll, "APPENDS", &PickleMachine::appends},
    {'}', ofAll, "EMPTY_DICT", &PickleMachine::emptyDict},
    {'s', ofAll, "SETITEM", &PickleMachine::setItem},
    {'u', ofAll, "SETITEMS", &PickleMachine::setItems},
    {'q', ofAll, "BINPUT", &PickleMachine::put<uint8_t>},
    {'r', ofAll, "LONG_BINPUT", &PickleMachine::put<uint32_t>},
    {0x94, ofArrays, "MEMOIZE", &PickleMachine::memoize},
    {'h', ofAll, "BINGET", &PickleMachine::get<uint8_t>},
    {'j', ofAll, "LONG_BINGET", &PickleMachine::get<uint32_t>},
    {'c', ofAll, "GLOBAL", &PickleMachine::global},
    {0x93, ofArrays, "STACK_GLOBAL", &PickleMachine::stackGlobal},
    {'R', ofAll, "REDUCE", &PickleMachine::reduce},
    {'b', ofAll, "BUILD", &PickleMachine::build},
    {'Q', ofStateDict, "BINPERSID", &PickleMachine::persistent},
    {0x95, ofArrays, "FRAME", &PickleMachine::frame},
    {'.', ofAll, "STOP", &PickleMachine::stop},
};

const PickleMachine::Opcode* PickleMachine::find(uint8_t code) const {
  const auto row = std::ranges::find(opcodes, code, &Opcode::code);
  const bool allowed = row != std::end(opcodes) && (row->sets & static_cast<uint8_t>(rules_.opcodes)) != 0;
  return allowed ? row : nullptr;
}

Result<Pickle> PickleMachine::run() {
  if (!isPickle(bytes_) || bytes_[1] > rules_.newestProtocol) {
    const bool several = rules_.newestProtocol > oldestProtocol;
    return parseError(0, "not a pickle of protocol ", int{oldestProtocol}, several ? " to " : "",
                      several ? std::to_string(rules_.newestProtocol) : "", ", as ", rules_.content, " is; ",
                      rules_.advice);
  }
  at_ = 2;
  for (uint64_t count = 0; !stopped_; ++count) {
    if (count == limits_.opcodes) return parseError(at_, "the pickle has more than ", limits_.opcodes, " opcodes");
    if (!step()) return *error_;
  }
  if (at_ != bytes_.size()) return parseError(at_, bytes_.size() - at_, " bytes follow the end of the pickle");
  return std::move(pickle_);
}

bool PickleMachine::step() {
  start_ = at_;
  if (at_ == bytes_.size()) return refuse("the pickle ends without STOP; truncated");
  const uint8_t code = bytes_[at_++];
  const Opcode* const opcode = find(code);
  if (opcode == nullptr) {
    return refuse("opcode ", int{code}, " of the pickle is not one that ", rules_.content, " needs; ", rules_.advice);
  }
  name_ = opcode->name;
  return (this->*opcode->run)();
}

PickleId PickleMachine::pop() {
  const PickleId id = stack_.back();
  stack_.pop_back();
  return id;
}

bool PickleMachine::push(PickleValue value) {
  if (pickle_.values.size() == limits_.values) return refuse("the pickle has more than ", limits_.values, " values");
  value.offset = static_cast<uint32_t>(std::min<uint64_t>(start_, UINT32_MAX));
  pickle_.values.push_back(std::move(value));
  stack_.push_back(static_cast<PickleId>(pickle_.values.size() - 1));
  return true;
}

bool PickleMachine::popMarked(std::vector<PickleId>& items) {
  if (marks_.empty()) return refuse(name_, " without a mark");
  items.assign(stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()), stack_.end());
  stack_.resize(marks_.back());
  marks_.pop_back();
  return true;
}

bool PickleMachine::real() {
  // No part of a state dict that is read depends on a real number.
  uint64_t ignored = 0;
  return take(ignored) && pushKind(Kind::real);
}

bool PickleMachine::longNumber() {
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

bool PickleMachine::mark() {
  if (marks_.size() == limits_.marks) return refuse("the pickle has more than ", limits_.marks, " nested marks");
  marks_.push_back(stack_.size());
  return true;
}

bool PickleMachine::tuple() {
  PickleValue value{.kind = Kind::tuple, .text = {}, .items = {}};
  return popMarked(value.items) && push(std::move(value));
}

bool PickleMachine::append() {
  if (!needs(2)) return false;
  return appendAll({pop()});
}

bool PickleMachine::appends() {
  std::vector<PickleId> items;
  return popMarked(items) && needs(1) && appendAll(items);
}

bool PickleMachine::appendAll(const std::vector<PickleId>& items) {
  if (top().kind != Kind::list) return refuse(name_, " on ", nameOf(top().kind), "; only a list can grow so");
  top().items.insert(top().items.end(), items.begin(), items.end());
  return true;
}

bool PickleMachine::setItem() {
  if (!needs(3)) return false;
  const PickleId value = pop();
  const PickleId key = pop();
  return setAll({key, value});
}

bool PickleMachine::setItems() {
  std::vector<PickleId> items;
  return popMarked(items) && needs(1) && setAll(items);
}

bool PickleMachine::setAll(const std::vector<PickleId>& items) {
  if (!top().isDict()) return refuse(name_, " on ", nameOf(top().kind), "; only a dict has items");
  if (items.size() % 2 != 0) return refuse(name_, ": a key without a value");
  for (size_t i = 0; i < items.size(); i += 2) {
    const PickleValue& key = pickle_.values[items[i]];
    if (!key.isString() && key.kind != Kind::integer) return refuse(name_, ": the key is ", nameOf(key.kind));
  }
  top().items.insert(top().items.end(), items.begin(), items.end());
  return true;
}

bool PickleMachine::remember(uint32_t index) {
  if (!needs(1)) return false;
  // The index is any 32-bit number. A map keeps the memory proportional to the entries, not to the largest index.
  memo_[index] = stack_.back();
  return memo_.size() <= limits_.values || refuse("the memo of the pickle has more than ", limits_.values, " entries");
}

bool PickleMachine::recall(uint32_t index) {
  const auto found = memo_.find(index);
  if (found == memo_.end()) return refuse(name_, ": the memo has no entry ", index);
  stack_.push_back(found->second);
  return true;
}

/// The length of the opcodes up to the next frame. It helps those who read a stream.
bool PickleMachine::frame() {
  uint64_t length = 0;
  return take(length) && has(length);
}

bool PickleMachine::stop() {
  if (!marks_.empty() || stack_.size() != 1) {
    return refuse("the pickle ends with ", stack_.size(), " values and ", marks_.size(), " marks on its stack");
  }
  pickle_.root = stack_.back();
  return stopped_ = true;
}

}  // namespace tandem
