#pragma once

#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "measure/record.h"
#include "report/result_table.h"

namespace tandem {

/// Shows records one after the other. What compares records (speed-up, which options are columns) is known only when
/// all are there, so nothing is complete before end(), which is called once, also after no record at all.
class Renderer {
 public:
  virtual ~Renderer() = default;
  virtual void add(const RunRecord&) = 0;
  virtual void end() {}
};

/// The stream given to `make` must outlive the renderer. `print` shows tables of any content. With a format that
/// programs read nothing else may stand on the same stream.
struct RendererEntry {
  std::string_view name, summary;
  std::unique_ptr<Renderer> (*make)(std::ostream&);
  void (*print)(std::span<const ResultTable>, std::ostream&);
  bool forPrograms;
};

/// table, md, csv, json.
std::span<const RendererEntry> renderers();

/// The run that verdict() names; null when there is none.
const RunRecord* fastest(std::span<const RunRecord>);

/// "fastest: POINT, RATE images/s, 12.3 % ahead of POINT; repeat with: COMMAND", or why there is none. One line,
/// without its end. Says "not distinguishable from" when the 95 % intervals of the two fastest overlap.
std::string verdict(std::span<const RunRecord>);

}  // namespace tandem
