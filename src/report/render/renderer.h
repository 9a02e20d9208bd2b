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
  bool forPrograms;  ///< what is written is a whole file
};

/// table, md, csv, json, html.
std::span<const RendererEntry> renderers();

/// What a report concludes of its runs.
struct Verdict {
  std::string finding;                 ///< one line without its end
  std::string repeat;                  ///< the command that measures the fastest again; empty where there is none
  const RunRecord* fastest = nullptr;  ///< of the runs given
};

/// Why a run is no headline: "failed", "skipped", "not valid", "in doubt" (measure/validity/consistency_checks.h) or
/// "not steady", the first that holds; empty when it is one.
std::string_view shortcoming(const RunRecord& record);

struct ShortcomingCount {
  std::string_view name;
  size_t runs = 0;
};

/// How many runs have each shortcoming, in the order in which shortcoming() looks for them.
std::vector<ShortcomingCount> countShortcomings(std::span<const RunRecord>);

Verdict judge(std::span<const RunRecord>);

/// "fastest: POINT, RATE images/s, 12.3 % ahead of POINT; repeat with: COMMAND", or why there is none. One line,
/// without its end. Says "not distinguishable from" when the 95 % intervals of the two fastest overlap.
std::string textOf(const Verdict& verdict);
std::string verdict(std::span<const RunRecord>);  ///< of judge()'s

}  // namespace tandem
