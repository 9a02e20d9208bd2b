#pragma once

#include <exception>

#include "measure/record/record.h"

namespace tandem {

/// What to do about too little memory, as the end of an error: "; lower --batch, ...".
std::string memoryAdvice(const Config& config);
/// A reason without it.
std::string withoutAdvice(const std::string& reason);

/// What an exception makes of a run: the class of the failure and one line, without a library's stack trace. Where
/// memory was refused: what was asked, what the host has left, what to do; as configurations that do not fit, `usage`.
Outcome outcomeOf(const std::exception& failure, const Config& config);

/// The outcome of a run whose resident set went beyond its limit. How much it would have taken nobody knows.
Outcome overLimit(int64_t limitBytes, const Config& config);

}  // namespace tandem
