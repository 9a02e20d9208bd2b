#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/program.h"
#include "report/render/renderer.h"
#include "run/links/measure_links.h"

namespace tandem {

/// A parsed command line of `tandem links`. Values that depend on the machine are resolved.
struct LinksCommand {
  LinksRequest request;
  std::vector<std::string> models;  ///< whose gradients are looked at: names or network files
  std::string results;              ///< results file with step times; empty: none
  const RendererEntry* format = nullptr;
};

/// What the command may use here.
struct LinkPlaces {
  int64_t cores = 1;
  std::vector<int> gpus;                      ///< ordinals that this build can use
  std::string (*refusal)(int gpu) = nullptr;  ///< why another one cannot be used, in one line
};

/// Throws UsageError.
LinksCommand parseLinks(Arguments arguments, const LinkPlaces& places);

std::string linksHelp();

/// Bytes of "4", "64k", "16m", "1g" or "1t"; letters are powers of 1024. Throws UsageError unless they are a multiple
/// of 4, the size of a value, from 4 to 2^50.
int64_t bytesOfSize(const std::string& text);

}  // namespace tandem
