#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/links/links_command.h"
#include "cli/links/links_tables.h"
#include "machine/cpu/topology.h"
#include "measure/record/results_file.h"
#include "run_tandem.h"
#include "support/contains.h"
#include "support/text_of_failure.h"

namespace tandem {
namespace {

using Texts = std::vector<std::string>;

Finished links(Texts more) {
  Texts all{"links", "--devices=cpu", "--sizes=4,64k", "--budget=0.2", "--model=resnet20"};
  all.insert(all.end(), more.begin(), more.end());
  return runTandem(all);
}

TEST(Links, PrintsEveryTable) {
  const auto run = links({});
  ASSERT_EQ(run.code, 0) << run.err;
  const bool severalCores = readTopology().cores.size() > 1;
  for (const char* title :
       {"Links of ", "Topology: ", "Latency and bandwidth", "between ranks", "Broadcast from rank 0",
        "Gradients of each network", "From which step on it pays", "no step time is known"}) {
    EXPECT_TRUE(contains(run.out, title)) << title << "\n" << run.out;
  }
  for (const char* title : {"Core to core", "All-reduce between replicas"}) {
    EXPECT_EQ(contains(run.out, title), severalCores) << title;
  }
}

TEST(Links, JsonHoldsTheSizesOfTheRanks) {
  const auto run = links({"--format", "json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto tables = nlohmann::json::parse(run.out);
  size_t found = 0;
  for (const auto& table : tables) {
    if (table["title"] != "All-reduce between ranks, which are processes") continue;
    found = table["rows"].size();
    EXPECT_EQ(table["rows"][0][3], "4 B");
    EXPECT_EQ(table["rows"][1][3], "64 KiB");
    EXPECT_EQ(table["rows"][0].size(), table["columns"].size());
  }
  EXPECT_EQ(found, 2U) << run.out;
}

TEST(Links, OfALauncherAreThoseBetweenItsRanks) {
  const auto run = runTandem({"launch", "-n", "3", "--", "links", "--sizes=4,4k", "--budget=0.1", "--format=json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto tables = nlohmann::json::parse(run.out);  // rank 0 alone prints
  std::vector<std::string> titles;
  for (const auto& table : tables) {
    titles.push_back(table["title"]);
    if (titles.back() != "All-reduce between ranks, which are processes") continue;
    EXPECT_EQ(table["rows"].size(), 2U);
    EXPECT_EQ(table["rows"][0][0], "3 ranks");
    EXPECT_EQ(table["rows"][0][1], "loopback");
  }
  EXPECT_NE(std::ranges::find(titles, "All-reduce between ranks, which are processes"), titles.end());
  EXPECT_EQ(std::ranges::find(titles, "Core to core"), titles.end());
}

TEST(Links, OtherFormatsAreThoseOfReport) {
  const auto betweenRanks = [](const std::string& format) {  // which are measured the fastest
    return runTandem({"launch", "-n", "2", "--", "links", "--sizes=4", "--budget=0.1", "--format=" + format}).out;
  };
  EXPECT_TRUE(contains(betweenRanks("md"), "|---|")) << "a table in Markdown";
  EXPECT_TRUE(betweenRanks("csv").starts_with("table,row,column,value\n"));
}

struct Refused {
  Texts arguments;
  int code;
  std::string says;
};

TEST(Links, BadInputIsOneLineWithTheRightExitCode) {
  const std::vector<Refused> cases{
      {{"--sizes=-4"}, usage, "--sizes=-4: must be bytes"},
      {{"--sizes=6"}, usage, "a multiple of 4"},
      {{"--sizes=4,4"}, usage, "twice"},
      {{"--sizes=1k,1024"}, usage, "twice"},
      {{"--sizes=many"}, usage, "--sizes=many"},
      {{"--sizes=9999999t"}, usage, "1024t"},
      {{"--sizes=1t"}, usage, "are available; lower the largest size"},
      {{"--sizes="}, usage, "--sizes needs a value"},
      {{"--model=resnet51"}, usage, "did you mean 'resnet50'"},
      {{"--replicas=1"}, usage, "must be whole numbers of 2 or more"},
      {{"--replicas=4096"}, usage, "usable core(s)"},
      {{"--repeats=5"}, usage, "from 6 to 1000"},
      {{"--budget=0"}, usage, "above 0"},
      {{"--budget=nan"}, usage, "above 0"},
      {{"--format=xml"}, usage, "unknown --format 'xml'"},
      {{"--devices=cpu:0"}, usage, "--devices=cpu:0: must be auto"},
      {{"--devices=cuda:4095"}, usage, "cuda:4095"},
      {{"--size=4"}, usage, "did you mean '--sizes'"},
      {{"--budget=1", "--budget=1"}, usage, "given twice"},
      {{"resnet50"}, usage, "unexpected argument 'resnet50'"},
      {{"--results=no-such-file.jsonl"}, data, "no-such-file.jsonl"},
  };
  for (const Refused& each : cases) {
    Texts arguments{"links"};
    arguments.insert(arguments.end(), each.arguments.begin(), each.arguments.end());
    const auto run = runForked(arguments);
    EXPECT_EQ(run.code, each.code) << each.arguments.front() << ": " << run.err;
    ASSERT_EQ(run.errors().size(), 1U) << each.arguments.front() << ": " << run.err;
    EXPECT_TRUE(contains(run.errors().front(), each.says)) << run.err;
    EXPECT_EQ(run.out, "");
  }
}

TEST(Links, WorkerIsNotStartedByHand) {
  const auto run = runForked({"links-worker"});
  EXPECT_EQ(run.code, usage);
  EXPECT_TRUE(contains(run.err, "tandem links")) << run.err;
}

TEST(Links, HelpNamesEveryOption) {
  const auto run = runForked({"links", "--help"});
  EXPECT_EQ(run.code, 0);
  for (const char* option :
       {"--sizes", "--replicas", "--devices", "--model", "--results", "--repeats", "--budget", "--format"}) {
    EXPECT_TRUE(contains(run.out, option)) << option;
  }
}

LinkPlaces eightCores() {
  return {.cores = 8, .gpus = {0, 1}, .refusal = [](int gpu) { return concat("no GPU ", gpu); }};
}

TEST(ParseLinks, ResolvesWhatTheMachineHas) {
  const LinksCommand command = parseLinks(Texts{}, eightCores());
  EXPECT_TRUE(command.request.cpu);
  EXPECT_EQ(command.request.gpus, (std::vector<int>{0, 1}));
  EXPECT_EQ(command.request.replicas, (std::vector<int64_t>{2, 4, 8}));
  EXPECT_EQ(command.request.sizes.front(), 4);
  EXPECT_EQ(command.request.sizes.back(), 64 << 20);
}

TEST(ParseLinks, TakesPartsOfTheMachine) {
  const Texts arguments{"--devices=cuda:1", "--sizes", "1k,4", "--replicas=3"};
  const LinksCommand command = parseLinks(arguments, eightCores());
  EXPECT_FALSE(command.request.cpu);
  EXPECT_EQ(command.request.gpus, std::vector<int>{1});
  EXPECT_EQ(command.request.sizes, (std::vector<int64_t>{4, 1024})) << "by rising size";
  EXPECT_EQ(command.request.replicas, std::vector<int64_t>{3});
  EXPECT_TRUE(parseLinks(Texts{"--devices=cpu"}, eightCores()).request.gpus.empty());
  EXPECT_EQ(textOfFailure<UsageError>([] { parseLinks(Texts{"--devices=cuda:2"}, eightCores()); }), "no GPU 2");
}

TEST(BytesOfSize, KnowsLettersAndBounds) {
  EXPECT_EQ(bytesOfSize("4"), 4);
  EXPECT_EQ(bytesOfSize("64k"), 65536);
  EXPECT_EQ(bytesOfSize("16M"), 16 << 20);
  EXPECT_EQ(bytesOfSize("1g"), 1 << 30);
  EXPECT_EQ(bytesOfSize("1024t"), int64_t{1} << 50);
  for (const char* text : {"", "k", "-1k", "0", "2", "1.5m", "4 k", "1025t", "9223372036854775807t", "4x"}) {
    EXPECT_THROW(bytesOfSize(text), UsageError) << text;
  }
}

LinkSeries ring(const std::string& kind, std::vector<LinkTimes> times) {
  return {.kind = kind, .link = "2 replicas", .path = "L3", .way = "ring", .times = std::move(times)};
}

/// 1 GB/s in both sizes.
LinkSeries gigabyteASecond(const std::string& kind) {
  return ring(kind, {{.bytes = 1'000'000, .seconds = {1e-3}}, {.bytes = 4'000'000, .seconds = {4e-3}}});
}

TEST(GradientTable, HasTheTimeOfAllReducesAndItsShareOfTheStep) {
  const std::vector<LinkSeries> series{gigabyteASecond("replicas"), gigabyteASecond("cores")};
  const std::vector<Gradients> networks{{"half", 500'000, 0.02, "as stored"}, {"double", 2'000'000, {}, ""}};
  const ResultTable table = gradientTable(series, networks);
  ASSERT_EQ(table.rows.size(), 2U) << "cores do not all-reduce";
  EXPECT_EQ(table.rows[0].cells, (Texts{"half", "2 replicas, L3", "1.91", "ring", "2.000", "20.0", "10.0", "0.50 M"}));
  EXPECT_EQ(table.rows[1].cells, (Texts{"double", "2 replicas, L3", "7.63", "ring", "~8.000", "-", "-", "-"}));
  EXPECT_EQ(table.notes.front(), "as stored");
}

TEST(BreakEvenTable, HasTheLargestGradientsWithinATenthOfAStep) {
  const ResultTable table = breakEvenTable(std::vector{gigabyteASecond("replicas")});
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows[0].cells, (Texts{"2 replicas, L3", "0.25 M", "~2.50 M", "~25.00 M", "~250.00 M"}));
  const ResultTable slow = breakEvenTable(std::vector{ring("ranks", {{.bytes = 4, .seconds = {0.002}}})});
  EXPECT_EQ(slow.rows[0].cells[1], "below 4 B") << "2 ms are more than a tenth of 10 ms";
}

TEST(CoreMatrix, HasWhatEachTwoCoresShare) {
  const std::vector<int> threads{0, 2};
  const ResultTable table = coreMatrix(threads, {{"core", "L3"}, {"L3", "core"}});
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.columns[2].heading, "2");
  EXPECT_EQ(table.rows[0].cells, (Texts{"0", "core", "L3"}));
  EXPECT_TRUE(table.notes.empty());
}

TEST(LinkSummary, HasLatencyBandwidthAndTheShareOfTheDataSheet) {
  LinkSeries series = gigabyteASecond("host-gpu");
  series.statedBytes = 4e9;
  const ResultTable table = linkSummary(std::vector{series});
  ASSERT_EQ(table.rows.size(), 1U);
  const auto& cells = table.rows[0].cells;
  EXPECT_EQ(Texts(cells.begin() + 4, cells.end()), (Texts{"1000", "1.00", "1.00", "976.6 KiB", "4.00", "25.0"}));
}

RunRecord recordOf(const std::string& model, const std::string& time, double stepMs) {
  RunRecord record;
  record.time = time;
  record.environment.host = "box";
  record.config.network.model = model;
  record.config.placement.replicas = 1;
  for (int i = 0; i < 3; ++i) record.steps.push_back({.replica = 0, .wall = Nanos(static_cast<int64_t>(stepMs * 1e6))});
  return record;
}

TEST(FindStep, TakesTheLastValidRunOfOneReplicaOnThisHost) {
  std::vector<RunRecord> records{recordOf("resnet20", "2026-01-02", 7),  recordOf("resnet20", "2026-01-01", 9),
                                 recordOf("vgg16", "2026-01-03", 11),    recordOf("resnet20", "2026-01-04", 13),
                                 recordOf("resnet20", "2026-01-05", 15), recordOf("resnet20", "2026-01-06", 17),
                                 recordOf("resnet20", "2026-01-07", 19)};
  records[3].environment.host = "other";
  records[4].config.placement.replicas = 2;
  records[5].outcome.kind = OutcomeKind::failed;
  records[6].config.placement.ranks = 2;
  Gradients network{"resnet20", 1000, {}, ""}, missing{"resnet50", 1000, {}, ""};
  findStep(network, records, "box");
  findStep(missing, records, "box");
  ASSERT_TRUE(network.stepSeconds.has_value());
  EXPECT_DOUBLE_EQ(*network.stepSeconds, 7e-3);
  EXPECT_TRUE(contains(network.stepNote, "2026-01-02"));
  EXPECT_FALSE(missing.stepSeconds.has_value());
}

}  // namespace
}  // namespace tandem
