#pragma once

#include <string>

#include "base/log.h"

namespace tandem {

/// Takes the warnings of this process while it lives, each once.
class CapturedWarnings {
 public:
  CapturedWarnings() {
    redirectWarnings([this](const std::string& text) { text_ += text + '\n'; });
  }
  ~CapturedWarnings() { redirectWarnings(nullptr); }
  CapturedWarnings(const CapturedWarnings&) = delete;
  CapturedWarnings& operator=(const CapturedWarnings&) = delete;

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace tandem
