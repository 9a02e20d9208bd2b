#pragma once

#include <functional>
#include <string>

namespace tandem {

/// What the action throws as a Failure; empty if it throws nothing.
template <class Failure>
std::string textOfFailure(const std::function<void()>& action) {
  try {
    action();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

}  // namespace tandem
