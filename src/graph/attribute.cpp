#include "graph/attribute.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"
#include "graph/operation.h"

namespace tandem {
namespace {

using Places = std::vector<int64_t*>;

constexpr AttributeEntry whole(std::string_view name, Places (*places)(Attributes&)) {
  return {name, places, nullptr, nullptr};
}
constexpr AttributeEntry number(std::string_view name, double Attributes::*field) {
  return {name, nullptr, field, nullptr};
}
constexpr AttributeEntry flag(std::string_view name, bool Attributes::*field) {
  return {name, nullptr, nullptr, field};
}

constexpr std::array table{
    whole("outputs", [](Attributes& a) { return Places{&a.outputs}; }),
    whole("kernel",
          [](Attributes& a) {
            return Places{&a.kernelH, &a.kernelW};
          }),
    whole("stride",
          [](Attributes& a) {
            return Places{&a.strideH, &a.strideW};
          }),
    whole("padding",
          [](Attributes& a) {
            return Places{&a.padding.top, &a.padding.bottom, &a.padding.left, &a.padding.right};
          }),
    whole("first", [](Attributes& a) { return Places{&a.first}; }),
    whole("dilation",
          [](Attributes& a) {
            return Places{&a.dilationH, &a.dilationW};
          }),
    whole("groups", [](Attributes& a) { return Places{&a.groups}; }),
    flag("bias", &Attributes::bias),
    flag("ceil_mode", &Attributes::ceilMode),
    flag("count_padding", &Attributes::countPadding),
    whole("output_size",
          [](Attributes& a) {
            return Places{&a.poolH, &a.poolW};
          }),
    whole("heads", [](Attributes& a) { return Places{&a.heads}; }),
    number("epsilon", &Attributes::epsilon),
    flag("scale", &Attributes::scale),
    number("momentum", &Attributes::momentum),
    number("probability", &Attributes::probability),
    whole("radius", [](Attributes& a) { return Places{&a.radius}; }),
    number("alpha", &Attributes::alpha),
    number("beta", &Attributes::beta),
    number("gain", &Attributes::gain),
    flag("identity", &Attributes::identity),
    flag("whitening", &Attributes::whitening),
};

}  // namespace

std::span<const AttributeEntry> attributes() { return table; }

std::vector<const AttributeEntry*> attributesOf(const Operation& operation) {
  const std::vector<std::string> read = split(operation.reads, " ");
  std::vector<const AttributeEntry*> rows;
  for (const AttributeEntry& entry : table) {
    if (std::ranges::find(read, entry.name) != read.end()) rows.push_back(&entry);
  }
  return rows;
}

}  // namespace tandem
