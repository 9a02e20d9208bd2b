#include "kernels/simd/isa_dispatch.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/error.h"

namespace tandem {
namespace {

std::string refusal(const char* named, Isa widest) {
  try {
    isaFor(named, widest);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(IsaDispatch, TakesTheWidestUnlessAnotherIsNamed) {
  EXPECT_EQ(isaFor(nullptr, Isa::avx2), Isa::avx2);
  EXPECT_EQ(isaFor("plain", Isa::avx512), Isa::plain);
  EXPECT_EQ(isaFor("avx2", Isa::avx512), Isa::avx2);
  EXPECT_EQ(isaFor("avx512", Isa::avx512), Isa::avx512);
}

TEST(IsaDispatch, RefusesUnknownNamesAndWhatTheProcessorLacks) {
  EXPECT_EQ(refusal("sse", Isa::avx512), "unknown TANDEM_VECTORS 'sse'; valid: plain, avx2, avx512");
  EXPECT_EQ(refusal("", Isa::avx512).substr(0, 25), "unknown TANDEM_VECTORS ''");
  EXPECT_EQ(refusal("avx512", Isa::avx2),
            "TANDEM_VECTORS=avx512: this processor lacks these instructions; the widest it has is avx2");
  EXPECT_EQ(refusal("avx2", Isa::plain),
            "TANDEM_VECTORS=avx2: this processor lacks these instructions; the widest it has is plain");
}

/// What each build of an isa/ source would define.
struct Builds {
  Isa isa;
  template <Isa isa>
  static const Builds& with() {
    static const Builds own{isa};
    return own;
  }
};

TEST(IsaDispatch, KernelsAreThoseThatTheEnvironmentNames) {
  const char* const named = std::getenv("TANDEM_VECTORS");
  EXPECT_EQ(nameOf(usedIsa()), named == nullptr ? nameOf(widestIsa()) : std::string_view(named));
  EXPECT_EQ(isaKernels<Builds>().isa, usedIsa());
  EXPECT_EQ(vectorLanes(), usedIsa() == Isa::avx512 ? 16 : 8);
}

}  // namespace
}  // namespace tandem
