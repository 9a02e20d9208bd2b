#include "kernels/simd/isa_dispatch.h"

#include <array>
#include <cstdlib>

#include "base/catalog.h"

namespace tandem {
namespace {

struct IsaRow {
  std::string_view name;
  Isa isa;
};

/// From the narrowest to the widest: each has those before it.
constexpr std::array isas{IsaRow{"plain", Isa::plain}, IsaRow{"avx2", Isa::avx2}, IsaRow{"avx512", Isa::avx512}};

Isa detect() {
#if defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  return avx2 && avx512 ? Isa::avx512 : avx2 ? Isa::avx2 : Isa::plain;
#else
  return Isa::plain;
#endif
}

}  // namespace

std::string_view nameOf(Isa isa) { return isas.at(static_cast<size_t>(isa)).name; }

Isa widestIsa() {
  static const Isa widest = detect();
  return widest;
}

Isa isaFor(const char* named, Isa widest) {
  if (named == nullptr) return widest;
  const IsaRow& row = find(std::span<const IsaRow>(isas), named, "TANDEM_VECTORS");
  if (row.isa <= widest) return row.isa;
  throw UsageError(concat("TANDEM_VECTORS=", named, ": this processor lacks these instructions; the widest it has is ",
                          nameOf(widest)));
}

Isa usedIsa() {
  static const Isa used = isaFor(std::getenv("TANDEM_VECTORS"), widestIsa());
  return used;
}

int64_t vectorLanes() { return vectorLanesOf(usedIsa()); }

}  // namespace tandem
