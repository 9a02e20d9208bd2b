#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <stdexcept>
#include <utility>

#include "base/text.h"

namespace tandem {

/// What a test does on the "GPU" that fake_cupti.cpp tells of. A kernel's symbol must outlive it.
struct FakeCupti {
  explicit FakeCupti(const char* library = TANDEM_FAKE_CUPTI) : library_(dlopen(library, RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) throw std::runtime_error(concat(library, " cannot be loaded"));
    load("fakeCall", call);
    load("fakeKernel", kernel);
    load("fakeCopy", copy);
    load("fakePeerCopy", peerCopy);
    load("fakeDrop", drop);
    load("fakeGraph", graph);
    load("fakeAutomatic", automatic);
  }

  uint32_t (*call)() = nullptr;
  void (*kernel)(uint32_t call, const char* symbol, uint32_t device, uint32_t stream,
                 const std::pair<uint64_t, uint64_t>& beginAndEnd) = nullptr;
  void (*copy)(uint32_t call, uint8_t way, uint64_t bytes, uint64_t begin, uint64_t end) = nullptr;
  void (*peerCopy)(uint32_t call, uint64_t bytes, uint64_t begin, uint64_t end) = nullptr;
  void (*drop)(size_t count) = nullptr;
  void (*graph)(int whether) = nullptr;
  void (*automatic)(int whether) = nullptr;

 private:
  template <class Function>
  void load(const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    if (function == nullptr) throw std::runtime_error(concat(name, " is missing"));
  }
  void* library_;
};

}  // namespace tandem
