#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "measure/validity/shortcoming.h"
#include "report/analysis/comparison.h"
#include "report/analysis/verdict.h"
#include "report/contents.h"
#include "report/page/html_page.h"
#include "report/render/builtin_renderers.h"
#include "report/tables/point_label.h"

namespace tandem {
namespace {

std::string countsOf(std::span<const RunRecord> records) {
  std::vector<std::string> parts{concat(records.size())};
  std::vector<const RunRecord*> all;
  for (const RunRecord& record : records) all.push_back(&record);
  for (const auto& [name, remedy, runs] : countShortcomings(all)) {
    if (runs > 0) parts.push_back(concat(runs, ' ', name));
  }
  return join(parts);
}

/// "2026-01-02 03:04" of "2026-01-02T03:04:05Z". Another text stays as it is.
std::string minuteOf(const std::string& utc) {
  constexpr std::string_view form = "0000-00-00T00:00:00Z";
  const bool agrees = std::ranges::equal(utc, form, [](char given, char wanted) {
    return wanted == '0' ? given >= '0' && given <= '9' : given == wanted;
  });
  return agrees ? concat(utc.substr(0, form.find('T')), ' ', utc.substr(form.find('T') + 1, 5)) : utc;
}

/// The minutes of the first run and of the last.
PageFact timesOf(std::span<const RunRecord> records) {
  std::set<std::string> minutes;
  for (const RunRecord& record : records) {
    if (!record.time.empty()) minutes.insert(minuteOf(record.time));
  }
  PageFact fact{"measured (UTC)", minutes.empty() ? "unknown" : *minutes.begin()};
  if (minutes.size() > 1) fact.to = *minutes.rbegin();
  return fact;
}

template <class Of>
std::string different(std::span<const RunRecord> records, Of of) {
  std::set<std::string> values;
  for (const RunRecord& record : records) values.insert(of(record).empty() ? "unknown" : of(record));
  constexpr size_t most = 3;
  std::vector<std::string> named(values.begin(), std::next(values.begin(), std::min(most, values.size())));
  if (values.size() > most) named.push_back(concat("and ", values.size() - most, " more"));
  return join(named);
}

/// The values of all hosts of a run, each once.
std::string ofHosts(const RunRecord& record, std::string Environment::*fact) {
  std::vector<std::string> values{record.environment.*fact};
  for (const HostRecord& host : record.otherHosts) {
    if (std::ranges::find(values, host.environment.*fact) == values.end()) values.push_back(host.environment.*fact);
  }
  return join(values, "; ");
}

std::vector<PageFact> factsOf(std::span<const RunRecord> records) {
  return {{"runs", countsOf(records)},
          {"all runs", sharedOptionsText(records)},
          timesOf(records),
          {"model", different(records, [](const RunRecord& record) { return record.config.network.model; })},
          {"host", different(records, [](const RunRecord& record) { return ofHosts(record, &Environment::host); })},
          {"processor", different(records, [](const RunRecord& record) { return ofHosts(record, &Environment::cpu); })},
          {"commit", different(records, [](const RunRecord& record) {
             return record.environment.commit.substr(0, 12) + (record.environment.dirty ? " with changes" : "");
           })}};
}

class HtmlRenderer final : public Renderer {
 public:
  explicit HtmlRenderer(std::ostream& out) : out_(out) {}

  void add(const RunRecord& record) override { records_.push_back(record); }

  void end() override {
    Page page{.title = "Tandem report", .findings = {}, .facts = {}, .parts = {}};
    if (records_.empty()) page.findings.push_back({"No records.", ""});
    if (!records_.empty()) fill(page);
    printPage(page, out_);
  }

 private:
  void fill(Page& page) const {
    if (std::string compared = comparisonFinding(records_); !compared.empty()) page.findings.push_back({compared, ""});
    auto verdicts = verdictsOn(records_);
    std::ranges::move(verdictsAcrossRounding(records_), std::back_inserter(verdicts));
    for (const Verdict& found : verdicts) page.findings.push_back({findingText(found), found.repeat});
    page.facts = factsOf(records_);
    const ReportRuns runs(records_);
    for (const ReportSection& section : reportSections()) {
      auto tables = section.make(runs);
      if (tables.empty()) continue;
      const std::string leftOut = section.oneByOne ? runs.leftOut() : "";
      page.parts.push_back({std::string(section.id), std::string(section.title),
                            concat(section.text, leftOut.empty() ? "" : " ", leftOut), std::move(tables)});
    }
  }

  std::ostream& out_;
  std::vector<RunRecord> records_;
};

}  // namespace

void printHtml(std::span<const ResultTable> tables, std::ostream& out) {
  Page page{.title = "Tandem report", .findings = {}, .facts = {}, .parts = {}};
  for (const ResultTable& table : tables) {
    page.parts.push_back({concat("table-", page.parts.size() + 1), table.title, "", {table}});
    page.parts.back().tables.front().title.clear();
  }
  printPage(page, out);
}

std::unique_ptr<Renderer> makeHtmlRenderer(std::ostream& out) { return std::make_unique<HtmlRenderer>(out); }

}  // namespace tandem
