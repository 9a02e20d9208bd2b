#pragma once

#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/record/record.h"
#include "report/tables/result_table.h"

namespace tandem {

/// Shows records one after the other. Some output needs all records (speed-up, the option columns), so nothing is
/// complete before end(). end() is called once, even without records.
class Renderer {
 public:
  virtual ~Renderer() = default;
  virtual void add(const RunRecord&) = 0;
  virtual void end() {}
};

/// A row of the formats. The stream given to `make` must outlive the renderer. `print` shows tables of any content.
struct RendererEntry {
  std::string_view name, summary;
  std::unique_ptr<Renderer> (*make)(std::ostream&);
  void (*print)(std::span<const ResultTable>, std::ostream&);
  bool forPrograms;  ///< the output is a whole file, so nothing else may go to the same stream
};

/// table, md, csv, json, html.
std::span<const RendererEntry> renderers();

}  // namespace tandem
