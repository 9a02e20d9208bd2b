#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "base/catalog.h"
#include "base/text.h"
#include "measure/training_example.h"
#include "report/contents.h"
#include "report/page/escaping.h"
#include "report/page/html_page.h"
#include "report/render/renderer.h"
#include "support/contains.h"

namespace tandem {
namespace {

std::string pageOf(const std::vector<RunRecord>& records) {
  std::ostringstream out;
  const auto renderer = find(renderers(), "html", "format").make(out);
  for (const RunRecord& record : records) renderer->add(record);
  renderer->end();
  return out.str();
}

std::string tablesOf(const std::vector<ResultTable>& tables) {
  std::ostringstream out;
  find(renderers(), "html", "format").print(tables, out);
  return out.str();
}

/// What stands between each `open` and the next `close`.
std::vector<std::string> between(const std::string& text, const std::string& open, const std::string& close) {
  std::vector<std::string> found;
  for (size_t at = text.find(open); at != std::string::npos; at = text.find(open, at)) {
    at += open.size();
    found.push_back(text.substr(at, text.find(close, at) - at));
  }
  return found;
}

std::vector<RunRecord> sweep() {
  std::vector<RunRecord> records{exampleRecord(1, "replicated", 100), exampleRecord(2, "replicated", 99),
                                 exampleRecord(1, "parameter_server", 100), exampleRecord(2, "parameter_server", 124)};
  records[1].warmup.steady = false;
  records[3].telemetry = {.at = {millis(0), millis(500), millis(1000)},
                          .series = {{"cuda:0", "temperature", "C", {50, std::nan(""), 70}},
                                     {"cuda:1", "temperature", "C", {60, 65, 80}},
                                     {"host", "memory", "MiB", {1, 2, 3}}},
                          .phases = {{"warm-up", millis(0)}, {"training", millis(400)}},
                          .cpu = millis(1)};
  return records;
}

std::vector<ResultTable> section(std::string_view id, const std::vector<RunRecord>& records) {
  const auto sections = reportSections();
  const auto found = std::ranges::find(sections, id, &ReportSection::id);
  return found->make(ReportRuns(records));
}

TEST(PageText, ShowsWhatCannotBeSeen) {
  EXPECT_EQ(visibleText("plain \xc3\xbc \xf0\x9f\x9a\x80"), "plain \xc3\xbc \xf0\x9f\x9a\x80");
  EXPECT_EQ(visibleText("a\xe2\x80\xae"
                        "b\xe2\x80\x8f\n"),
            "a[U+202E]b[U+200F][U+000A]");
  EXPECT_EQ(visibleText("\xe2\x81\xa6\xd8\x9c\xc2\x9f\x7f\xef\xbf\xbf"), "[U+2066][U+061C][U+009F][U+007F][U+FFFF]");
  EXPECT_EQ(visibleText("a\xff\xc3"), "a\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(visibleText("\xf4\x8f\xbf\xbf"), "[U+10FFFF]");
}

TEST(PageText, CutsWhatIsLongAndSaysSo) {
  EXPECT_EQ(visibleText(std::string(1000, 'x')), std::string(1000, 'x'));
  EXPECT_EQ(visibleText(std::string(1001, 'x')), std::string(1000, 'x') + "... (cut: 1001 bytes in all)");
}

TEST(PageText, EscapesForItsContext) {
  EXPECT_EQ(htmlText("<a href=\"x\" id='y'>&</a>"), "&lt;a href=&quot;x&quot; id=&#39;y&#39;&gt;&amp;&lt;/a&gt;");
  const std::string json = R"(["</script><!--&"])";
  const std::string safe = scriptJson(json);
  EXPECT_EQ(safe.find_first_of("<>&"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(safe), nlohmann::json::parse(json));
}

TEST(PageText, IntegrityIsThatOfOpenssl) {  // openssl dgst -sha256 -binary | base64
  EXPECT_EQ(integrityOf(""), "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
  EXPECT_EQ(integrityOf("abc"), "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
}

TEST(HtmlPage, ThePolicyNamesEveryScriptAndTheStyleAndNothingElse) {
  const std::string page = pageOf(sweep());
  const std::string policy = between(page, "Content-Security-Policy\" content=\"", "\">").at(0);
  EXPECT_TRUE(policy.starts_with("default-src 'none'; script-src 'sha256-")) << policy;
  EXPECT_FALSE(contains(policy, "unsafe"));
  EXPECT_FALSE(contains(policy, "http"));
  std::vector<std::string> inlined = between(page, "<script>", "</script>");
  EXPECT_EQ(inlined.size(), 5u);
  inlined.push_back(between(page, "<style>", "</style>").at(0));
  for (const std::string& text : inlined)
    EXPECT_TRUE(contains(policy, concat("'", integrityOf(text), "'"))) << text.substr(0, 80);
  EXPECT_EQ(between(policy, "sha256-", "'").size(), inlined.size());
}

TEST(HtmlPage, PicturesAreInTheFileWithTheirCaptions) {
  std::vector<RunRecord> records{exampleWithWrongPredictions()};
  EXPECT_FALSE(contains(pageOf(records), "img-src"));
  EXPECT_TRUE(contains(pageOf(records), "on the page that a training writes itself"));
  auto& wrong = records[0].training->evaluations[11].wrong;
  wrong[0].png = examplePng();
  records[0].training->classes[3] = "<b>";
  const std::string page = pageOf(records);
  EXPECT_TRUE(contains(page, "; img-src data:; base-uri"));
  const auto pictures = between(page, "<figure><img ", "</figure>");
  ASSERT_EQ(pictures.size(), 1U) << "the other ones were not read";
  EXPECT_TRUE(contains(pictures[0], "alt=\"3 &lt;b&gt; taken for 5 shape 5, 99.61 %\"")) << pictures[0];
  EXPECT_TRUE(contains(pictures[0], concat("src=\"data:image/png;base64,", base64(examplePng()), "\""))) << pictures[0];
}

TEST(PageText, Base64IsThatOfCoreutils) {  // printf ... | base64
  const auto of = [](std::string_view text) {
    return base64(std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
  };
  EXPECT_EQ(of(""), "");
  EXPECT_EQ(of("a"), "YQ==");
  EXPECT_EQ(of("ab"), "YWI=");
  EXPECT_EQ(of("abc"), "YWJj");
  EXPECT_EQ(of("\xff\xfe\xfd?"), "//79Pw==");
}

TEST(HtmlPage, EveryChartIsReadableAndHasItsTable) {
  auto records = sweep();
  records.push_back(exampleTraining());
  const std::string page = pageOf(records);
  const auto figures = between(page, "<script type=\"application/json\">", "</script>");
  EXPECT_EQ(figures.size(), between(page, "<canvas", ">").size());
  std::set<std::string> kinds;
  for (const std::string& text : figures) {
    const auto chart = nlohmann::json::parse(text);
    kinds.insert(chart["kind"]);
    const size_t values = chart["at"].size() + chart["labels"].size();
    ASSERT_FALSE(chart["series"].empty());
    for (const auto& series : chart["series"]) {
      EXPECT_EQ(series["values"].size(), series.contains("at") ? series["at"].size() : values) << text;
      EXPECT_TRUE(series["remarks"].empty() || series["remarks"].size() == values) << text;
    }
  }
  EXPECT_EQ(kinds.size(), 7u);
  for (const ReportSection& section : reportSections()) {
    for (const ResultTable& table : section.make(ReportRuns(records))) EXPECT_FALSE(table.rows.empty()) << section.id;
  }
}

TEST(HtmlPage, IsTheSameBytesForTheSameRecordsAndOtherOnesForOthers) {
  EXPECT_EQ(pageOf(sweep()), pageOf(sweep()));
  auto other = sweep();
  other[0].window += Nanos(1'000'000);
  EXPECT_NE(pageOf(other), pageOf(sweep()));
}

TEST(HtmlPage, NamesAreTextEverywhere) {
  const std::string hostile = "<script>alert(1)</script>\"onerror=";
  auto records = sweep();
  RunRecord& record = records[3];
  record.config.network.model = record.environment.host = record.environment.cpu = hostile;
  record.environment.commit = record.time = hostile;
  record.notes = {hostile};
  record.interference.reasons = {hostile};
  record.telemetry.series[0].device = record.telemetry.series[1].quantity = record.telemetry.series[2].unit = hostile;
  record.telemetry.phases[0].name = hostile;
  records.push_back(failedRecord(2, ExitCode::numeric, hostile));
  std::string page = pageOf(records);
  EXPECT_FALSE(contains(page, "<script>alert"));
  for (const std::string& data : between(page, "<script type=\"application/json\">", "</script>")) {
    page.replace(page.find(data), data.size(), "");
  }
  EXPECT_FALSE(contains(page, "\"onerror="));
  EXPECT_TRUE(contains(page, "&lt;script&gt;alert(1)&lt;/script&gt;&quot;onerror="));
  EXPECT_FALSE(
      contains(tablesOf({{{{hostile, hostile, false}}, {{{hostile}, hostile}}, {hostile}, hostile}}), "<script>alert"));
}

TEST(HtmlPage, FailuresCaveatsAndNotesStandInTheRowsTheyTouch) {
  auto records = sweep();
  records.push_back(failedRecord(4, ExitCode::numeric, "loss is NaN"));
  const auto rows =
      between(between(pageOf(records), "<section id=\"runs\">", "</section>").at(0), "<tr class=\"", "</tr>");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_TRUE(rows[0].starts_with("caveat") && contains(rows[0], "not steady")) << rows[0];
  EXPECT_TRUE(rows[1].starts_with("failed") && contains(rows[1], "loss is NaN")) << rows[1];
}

TEST(HtmlPage, OnlyTheCellThatSaysACaveatIsMarked) {
  const std::string page = pageOf(sweep());
  const auto rows = [&](const std::string& id) {
    return between(between(page, "<section id=\"" + id + "\">", "</section>").at(0), "<tr class=\"caveat\">", "</tr>");
  };
  for (const char* id : {"runs", "step", "distribution"}) {
    ASSERT_EQ(rows(id).size(), 1u) << id;
    EXPECT_EQ(between(rows(id)[0], "<td class=\"caveats\"><bdi>", "</bdi>"), std::vector<std::string>{"not steady"})
        << id;
  }
  ASSERT_FALSE(rows("scaling").empty());
  EXPECT_FALSE(contains(rows("scaling")[0], "caveats")) << "its last cell is a rate";
}

TEST(HtmlPage, TimesAreToTheMinuteAndNotBroken) {
  auto records = sweep();
  for (RunRecord& record : records) record.time = "2026-01-02T03:04:05Z";
  EXPECT_TRUE(contains(pageOf(records), "<dt>measured (UTC)</dt><dd><bdi>2026-01-02 03:04</bdi></dd>"));
  records[2].time = "2026-01-03T00:00:59Z";
  EXPECT_TRUE(contains(pageOf(records),
                       "<dd><bdi class=\"whole\">2026-01-02 03:04</bdi> to "
                       "<bdi class=\"whole\">2026-01-03 00:00</bdi></dd>"));
}

TEST(HtmlPage, RowsAfterTheFirstHundredAreFoldedAndAllThere) {
  ResultTable table{{{"row", "", true}}, {}, {}, "many"};
  for (int row = 1; row <= 1234; ++row) table.rows.push_back({{concat(row)}, ""});
  const std::string page = tablesOf({table});
  EXPECT_EQ(between(page, "<tr><th scope=\"row\"", "</tr>").size(), 1234u);
  EXPECT_EQ(
      between(page, "<summary>", "</summary>"),
      (std::vector<std::string>{"rows 101 to 600 of 1234", "rows 601 to 1100 of 1234", "rows 1101 to 1234 of 1234"}));
}

TEST(PageSections, OfManyRunsTheLastAreShownOneByOneAndThePageSaysSo) {
  std::vector<RunRecord> records(20, exampleRecord(1, "replicated", 100));
  for (size_t i = 0; i < records.size(); ++i) records[i].config.step.batch = static_cast<int64_t>(i) + 1;
  records[19].outcome = {OutcomeKind::failed, ExitCode::numeric, "loss is NaN"};
  const ReportRuns runs(records);
  EXPECT_EQ(runs.shown().front(), 8u);
  EXPECT_EQ(runs.shown().size(), 12u);
  EXPECT_TRUE(contains(pageOf(records), "Shown are the last 12 of 19 rows with a finished run (rows 8 to 19)"));
  EXPECT_FALSE(contains(pageOf({records[0]}), "Shown are the last"));
}

TEST(PageSections, ScalingHasAChartPerNetworkAndAnIdealForEach) {
  auto records = sweep();
  for (size_t i = 0; i < 4; ++i) {
    records.push_back(records[i]);
    records.back().config.network.model = "vgg11";
  }
  const auto tables = section("scaling", records);
  ASSERT_EQ(tables.size(), 3u);
  for (const ResultTable& table : tables) {
    ASSERT_EQ(table.charts.size(), 2u) << table.title;
    EXPECT_EQ(table.charts[1].title, "vgg11");
    EXPECT_EQ(table.charts[0].at, (std::vector<double>{1, 2}));
    ASSERT_EQ(table.charts[0].series.size(), 3u);
    EXPECT_TRUE(table.charts[0].series[2].ideal);
    EXPECT_EQ(table.charts[0].series[0].remarks, (std::vector<std::string>{"", "not steady"}));
  }
  EXPECT_EQ(tables[0].charts[0].series[2].values, (std::vector<double>{160, 320}));
  EXPECT_EQ(tables[1].charts[0].series[2].values, (std::vector<double>{1, 2}));
  EXPECT_EQ(tables[2].charts[0].series[2].values, (std::vector<double>{100, 100}));
}

TEST(PageSections, ANumberStandsBesideTheCeilingsAndWhatWasPublished) {
  EXPECT_TRUE(section("right", sweep()).empty()) << "nothing is known";
  auto records = sweep();
  records[0].flopsPeak = 1e12, records[0].placement.flopsPerImage = 24.3e9;
  records[2].config.placement.devices = "cuda:0", records[2].placement.replicas = {"cuda:0 Tesla P100-SXM2-16GB"};
  records[2].config.network.imageSize = records[2].placement.ownImageSize = 224;
  const auto tables = section("right", records);
  ASSERT_EQ(tables.size(), 2U);
  for (const TableColumn& column : tables[0].columns) EXPECT_FALSE(contains(column.heading, "_")) << column.heading;
  EXPECT_EQ(headingOf(tables[0].columns.at(4)), "of the FLOP ceiling (%)");
  ASSERT_EQ(tables[0].rows.size(), 1U);
  EXPECT_EQ(tables[0].rows[0].cells.at(0), "1");
  ASSERT_EQ(tables[1].rows.size(), 1U);
  EXPECT_EQ(tables[1].rows[0].cells.at(0), "3");
  EXPECT_TRUE(contains(pageOf(records), "Is my number right?"));
}

TEST(PageSections, StrategiesStandSideBySide) {
  const auto tables = section("side-by-side", sweep());
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables[0].rows[1].cells, (std::vector<std::string>{"2", "320*", "256"}));
  ASSERT_EQ(tables[0].charts.size(), 1u);
  EXPECT_EQ(tables[0].charts[0].labels, (std::vector<std::string>{"replicas=1", "replicas=2"}));
  EXPECT_EQ(tables[0].charts[0].series[1].values, (std::vector<double>{160, 256}));
}

TEST(PageSections, PartsOfAStepAddUpToIt) {
  const auto tables = section("step", sweep());
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables[0].rows[0].cells, (std::vector<std::string>{"1: replicas=1 strategy=replicated", "10.00", "70.00",
                                                               "20.00", "0.00", "100.00", ""}));
  EXPECT_EQ(tables[0].rows[1].cells.back(), "not steady");
}

TEST(PageSections, TelemetryHasMediansOfEachPhaseAndGapsWhereNothingWasRead) {
  const auto tables = section("telemetry", sweep());
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables[0].rows[0].cells, (std::vector<std::string>{"temperature (C)", "cuda:0", "50.0", "70.0", "70.0"}));
  EXPECT_EQ(tables[0].rows[1].cells, (std::vector<std::string>{"temperature (C)", "cuda:1", "60.0", "72.5", "80.0"}));
  ASSERT_EQ(tables[0].charts.size(), 2u);
  const Chart& chart = tables[0].charts[0];
  ASSERT_EQ(chart.series.size(), 2u);
  EXPECT_EQ(nlohmann::json::parse(jsonOf(chart))["series"][0]["values"], nlohmann::json::parse("[50.0, null, 70.0]"));
  ASSERT_EQ(chart.bands.size(), 2u);
  EXPECT_EQ(std::pair(chart.bands[0].from, chart.bands[0].to), std::pair(0.0, 0.4));
  EXPECT_EQ(std::pair(chart.bands[1].from, chart.bands[1].to), std::pair(0.4, 1.0));
}

TEST(PageSections, HistogramsCountEveryStep) {
  const auto tables = section("distribution", sweep());
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables[0].rows[0].cells[1], "30");
  ASSERT_EQ(tables[0].charts.size(), 4u);
  for (const Chart& chart : tables[0].charts) {
    double steps = 0;
    for (const double count : chart.series[0].values) steps += count;
    EXPECT_EQ(steps, 30);
  }
  auto same = exampleRecord(1, "replicated", 100);
  for (StepSample& step : same.steps) step.wall = millis(100);
  const auto one = section("distribution", {same});
  EXPECT_EQ(one[0].charts[0].series[0].values, std::vector<double>{30});
}

}  // namespace
}  // namespace tandem
