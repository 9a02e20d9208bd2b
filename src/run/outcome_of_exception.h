#pragma once

#include <exception>

#include "measure/record/record.h"

namespace tandem {

/// Advice for too little memory, as the end of an error text: "; lower --batch, ...".
std::string memoryAdvice(const Config& config);
/// Removes that advice from a reason.
std::string withoutAdvice(const std::string& reason);

/// The outcome of a run that ended with an exception: its exit code and one line, without a library's stack trace. If
/// memory was refused, the code is `usage`, and the line has the host's available memory (CPU only) and memoryAdvice().
Outcome outcomeOf(const std::exception& failure, const Config& config);

/// The outcome of a run whose resident set exceeded `limitBytes`.
Outcome overLimit(int64_t limitBytes, const Config& config);

}  // namespace tandem
