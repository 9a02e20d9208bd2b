#pragma once

/// TANDEM_CLONES before a function makes the compiler build it for AVX-512, AVX2 and plain x86-64; the loader selects.
///
/// Only for sources that include no libtorch header. Otherwise the linker might keep an inline function built with
/// those instructions for generic code. What a cloned function calls must be TANDEM_INLINE. Off under sanitizers, which
/// run before the loader has selected.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(TANDEM_SANITIZED)
#define TANDEM_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TANDEM_CLONES
#endif

#define TANDEM_INLINE inline __attribute__((always_inline))

/// The same for a lambda; stands between its parameters and its body.
#define TANDEM_INLINE_LAMBDA __attribute__((always_inline))
