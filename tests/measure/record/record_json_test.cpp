#include "measure/record/record_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/text.h"
#include "measure/record_example.h"
#include "support/tests_folder.h"

namespace tandem {
namespace {

using nlohmann::json;

std::string failureOf(const json& stored) {
  try {
    recordFromJson(stored);
  } catch (const DataError& failure) {
    return failure.what();
  }
  return "";
}

/// Members that records of earlier versions lack.
const std::set<std::string> addedLater{"/sweep",
                                       "/round",
                                       "/side",
                                       "/placement/graph",
                                       "/placement/data",
                                       "/placement/data_images",
                                       "/placement/augment",
                                       "/placement/image_mean",
                                       "/placement/image_deviation",
                                       "/placement/kernels",
                                       "/placement/zero_channels",
                                       "/placement/exchange_memory",
                                       "/placement/link",
                                       "/training/evaluations/1/wrong",
                                       "/training/course/0/image_size",
                                       "/training/course/1/image_size",
                                       "/placement/update",
                                       "/placement/own_image_size",
                                       "/placement/flops_per_image",
                                       "/placement/bytes_per_step",
                                       "/profile/clock_error_ns",
                                       "/traffic/bytes_between_ranks",
                                       "/peak_flops_per_s",
                                       "/peak_bytes_per_s",
                                       "/peak_reserved_bytes",
                                       "/outcome/out_of_memory",
                                       "/skipped_steps",
                                       "/loss_scale"};

json* find(json& record, const std::string& path) { return &record.at(json::json_pointer(path)); }

TEST(RecordJson, RoundTripKeepsEveryBit) {
  const RunRecord record = fullRecord();
  const std::string text = toJson(record).dump();
  const RunRecord back = recordFromJson(json::parse(text));
  EXPECT_TRUE(back == record);
  EXPECT_TRUE(std::signbit(back.losses.back()));
  EXPECT_EQ(toJson(back).dump(), text);
}

TEST(RecordJson, TextsThatAreNoUtf8AreEscaped) {
  RunRecord record = exampleRecord(1, "replicated", 10);
  record.environment.variables = {{"MKL_\xfe", "a\xff\\"}};
  record.placement.replicas = {"\xc3", "\xc3\xbc"};
  record.outcome.reason = "\x80";
  const RunRecord back = recordFromJson(json::parse(toJson(record).dump()));  // dump() throws for other than UTF-8
  EXPECT_EQ(back.environment.variables, (std::map<std::string, std::string>{{"MKL_\\xfe", "a\\xff\\"}}));
  EXPECT_EQ(back.placement.replicas, (std::vector<std::string>{"\\xc3", "\xc3\xbc"}));
  EXPECT_EQ(back.outcome.reason, "\\x80");
}

TEST(RecordJson, TheFullRecordLeavesNoMemberAtItsDefault) {
  const json full = toJson(fullRecord()).flatten();
  const json standard = toJson(RunRecord()).flatten();
  for (const auto& [name, value] : standard.items()) {
    if (name.starts_with("/config/") || name == "/schema") continue;
    EXPECT_TRUE(!full.contains(name) || full.at(name) != value) << name;
  }
}

TEST(RecordJson, NanosecondsAreIntegersAndSamplesAreColumns) {
  const json stored = toJson(exampleRecord(2, "replicated", 10));
  EXPECT_TRUE(stored.at("window_ns").is_number_integer());
  EXPECT_EQ(stored.at("samples").at("replica").size(), 60u);
  EXPECT_EQ(stored.at("samples").at("wall_ns").at(1), 10'000'000);
}

TEST(RecordJson, OnlyAProfileHasTheStepsTakenApart) {
  EXPECT_FALSE(toJson(exampleRecord(2, "replicated", 10)).contains("profile"));
  json stored = toJson(fullRecord());
  EXPECT_TRUE(find(stored, "/profile/replicas/1/arrival_ns/0")->is_null());
  EXPECT_EQ(*find(stored, "/profile/replicas/1/hidden_update_ns/1"), 1'100'000);
  *find(stored, "/profile/replicas/1/idle_ns") = {1};
  EXPECT_NE(failureOf(stored).find("profile.replicas[1].idle_ns"), std::string::npos) << failureOf(stored);
  *find(stored, "/profile/replicas/1/idle_ns") = *find(stored, "/profile/replicas/1/wall_ns");
  for (const char* member : {"after_ns", "last"}) {
    json other = stored;
    *find(other, concat("/profile/exchanges/0/", member)) = {1};
    EXPECT_NE(failureOf(other).find("profile.exchanges[0]: after_ns and last must tell of 2 replicas"),
              std::string::npos)
        << failureOf(other);
  }
  json none = stored;
  *find(none, "/profile/exchanges/0/last") = {0, 0};
  EXPECT_NE(failureOf(none).find("of no step"), std::string::npos) << failureOf(none);
  find(stored, "/profile")->erase("exchanges");
  EXPECT_TRUE(recordFromJson(stored).profile->exchanges.empty()) << "records from before had none";
  stored.erase("profile");
  EXPECT_FALSE(recordFromJson(stored).profile);
}

TEST(RecordJson, StepsFromBeforeTheyWereLaunchedAreRead) {
  json stored = toJson(fullRecord());
  EXPECT_EQ(*find(stored, "/profile/replicas/1/launch_ns/1"), 1'100'000);
  for (json& replica : stored.at("profile").at("replicas")) replica.erase("launch_ns");
  const auto steps = recordFromJson(stored).profile->replicas[1].steps;
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[1].launch, Nanos{});
  EXPECT_EQ(steps[1].rest, millis(1.1));
  find(stored, "/profile/replicas/1")->erase("forward_ns");
  EXPECT_NE(failureOf(stored).find("'profile.replicas[1].forward_ns' is missing"), std::string::npos)
      << failureOf(stored);
}

TEST(RecordJson, OnlyAProfileOfGpusHasTheirSteps) {
  RunRecord record = fullRecord();
  json stored = toJson(record);
  EXPECT_EQ(*find(stored, "/profile/device/devices/0/kernels/1/bytes"), 77e6);
  for (const auto& [member, wrong] :
       {std::pair("steps", 0), std::pair("wall_ns", 0), std::pair("busy_ns", 120'000'001)}) {
    json other = stored;
    *find(other, concat("/profile/device/devices/0/", member)) = wrong;
    EXPECT_NE(failureOf(other).find("profile.device.devices[0]"), std::string::npos) << member << failureOf(other);
  }
  record.profile->device->flopsPeak = 0;
  EXPECT_TRUE(toJson(record).at("profile").at("device").at("peak_flops_per_s").is_null());
  record.profile->device.reset();
  stored = toJson(record);
  EXPECT_FALSE(stored.at("profile").contains("device"));
  EXPECT_TRUE(recordFromJson(stored) == record) << "records from before had none";
}

TEST(RecordJson, OnlyAProfileOfCpusHasTheirCalls) {
  RunRecord record = fullRecord();
  const json stored = toJson(record);
  for (const auto& [member, wrong] :
       {std::pair("steps", json(0)), std::pair("wall_ns", json(0)), std::pair("calls/0/operations", json::array())}) {
    json other = stored;
    *find(other, concat("/profile/host/", member)) = wrong;
    EXPECT_NE(failureOf(other).find("profile.host"), std::string::npos) << member << failureOf(other);
  }
  record.profile->host.reset();
  EXPECT_FALSE(toJson(record).at("profile").contains("host"));
  EXPECT_TRUE(recordFromJson(toJson(record)) == record) << "records from before had none";
}

TEST(RecordJson, OnlyASearchedBatchSaysHowItWasFound) {
  EXPECT_FALSE(toJson(exampleRecord(2, "replicated", 10)).contains("searched_batch"));
  json stored = toJson(fullRecord());
  EXPECT_EQ(*find(stored, "/searched_batch/too_large"), 196);
  RunRecord gpu = fullRecord();
  gpu.batchSearch->limitBytes = gpu.batchSearch->tooLarge = 0;
  EXPECT_TRUE(toJson(gpu).at("searched_batch").at("limit_bytes").is_null());
  EXPECT_TRUE(toJson(gpu).at("searched_batch").at("too_large").is_null());
  EXPECT_TRUE(recordFromJson(toJson(gpu)) == gpu);
  stored.erase("searched_batch");
  EXPECT_FALSE(recordFromJson(stored).batchSearch);
}

TEST(RecordJson, ABatchThatWasNotFoundIsItsWord) {
  RunRecord record = failedRecord(1, ExitCode::usage, "nothing fits");
  record.config.step.batch = Config::mostThatFits;
  EXPECT_EQ(toJson(record).at("config").at("batch"), "max");
  EXPECT_TRUE(recordFromJson(toJson(record)) == record);
}

TEST(RecordJson, NotMeasuredAndNotFiniteAreNull) {
  RunRecord record;
  record.losses = {1, std::nan(""), std::numeric_limits<double>::infinity()};
  const json stored = toJson(record);
  for (const char* path : {"/window_ns", "/startup_ns", "/wall_ns", "/peak_memory_bytes", "/peak_reserved_bytes",
                           "/environment/load1", "/environment/memory_bytes", "/losses/1", "/losses/2"}) {
    EXPECT_TRUE(stored.at(json::json_pointer(path)).is_null()) << path;
  }
  const RunRecord back = recordFromJson(stored);
  EXPECT_EQ(back.environment.load1, -1);
  EXPECT_EQ(back.window, Nanos{});
  ASSERT_EQ(back.losses.size(), 3u);
  EXPECT_TRUE(std::isnan(back.losses[1]) && std::isnan(back.losses[2]));
  EXPECT_EQ(toJson(back), stored);
}

TEST(RecordJson, EveryMissingMemberIsNamed) {
  const json whole = toJson(fullRecord());
  const json members = whole.flatten();
  for (const auto& [path, value] : members.items()) {
    const json::json_pointer pointer(path);
    if (!whole.at(pointer.parent_pointer()).is_object()) continue;
    const auto isIn = [&path](const char* map) { return path.find(map) != std::string::npos; };
    const bool optional = path.starts_with("/config/") || isIn("/environment/libraries/") ||
                          isIn("/environment/variables/") || isIn("/placement/convolution_passes/") ||
                          isIn("/interference/signs/");
    if (optional) continue;
    json torn = whole;
    find(torn, pointer.parent_pointer().to_string())->erase(pointer.back());
    if (addedLater.contains(path)) {
      EXPECT_EQ(failureOf(torn), "") << path;
      continue;
    }
    EXPECT_NE(failureOf(torn).find(pointer.back() + "' is missing"), std::string::npos) << path << failureOf(torn);
  }
}

TEST(RecordJson, RecordsFromBeforeTheLinksOfGpusAreRead) {
  json stored = toJson(fullRecord());
  EXPECT_EQ(stored.at("environment").at("gpu_slots").at(0).at("most_lanes"), 8);
  for (const char* member : {"gpu_links", "gpu_slots"}) stored.at("environment").erase(member);
  const RunRecord back = recordFromJson(stored);
  EXPECT_TRUE(back.environment.gpuLinks.empty() && back.environment.gpuSlots.empty());
}

TEST(RecordJson, WrongTypesAreNamedWithTheirPath) {
  const auto failureWith = [](const std::string& path, json value) {
    json stored = toJson(fullRecord());
    *find(stored, path) = std::move(value);
    return failureOf(stored);
  };
  EXPECT_NE(failureWith("/environment/cores", "8").find("'environment.cores' is a string"), std::string::npos);
  EXPECT_NE(failureWith("/window_ns", 1.5).find("'window_ns'"), std::string::npos);
  EXPECT_NE(failureWith("/window_ns", UINT64_MAX).find("'window_ns'"), std::string::npos);
  EXPECT_NE(failureWith("/warmup/steady", 1).find("'warmup.steady'"), std::string::npos);
  EXPECT_NE(failureWith("/losses/1", "x").find("'losses[1]'"), std::string::npos);
  EXPECT_NE(failureWith("/samples/replica/0", int64_t{1} << 40).find("'samples.replica[0]'"), std::string::npos);
  EXPECT_NE(failureWith("/samples/input_ns", json::array({1})).find("'samples.input_ns' has 1"), std::string::npos);
  EXPECT_NE(failureWith("/environment/libraries", json::array()).find("'environment.libraries'"), std::string::npos);
  EXPECT_NE(failureWith("/outcome/kind", "fine").find("'outcome.kind' is 'fine'"), std::string::npos);
  EXPECT_NE(failureWith("/outcome/code", "bad").find("'outcome.code' is 'bad'"), std::string::npos);
  EXPECT_NE(failureWith("/config/batch", "x").find("batch"), std::string::npos);
  EXPECT_NE(failureWith("/traffic", 3).find("'traffic'"), std::string::npos);
  EXPECT_NE(failureOf(json::array()).find("an object"), std::string::npos);
}

TEST(RecordJson, AMemberAddedLaterIsNotMeasuredWhereItIsMissing) {
  json stored = toJson(fullRecord());
  stored.erase("peak_flops_per_s");
  EXPECT_EQ(recordFromJson(stored).flopsPeak, 0);
  EXPECT_EQ(recordFromJson(toJson(fullRecord())).flopsPeak, 5e11);
  stored["peak_flops_per_s"] = "fast";
  EXPECT_NE(failureOf(stored).find("'peak_flops_per_s'"), std::string::npos);
}

TEST(RecordJson, TheStampIsThereIfItWasAskedFor) {
  json stored = toJson(fullRecord());
  EXPECT_EQ(*find(stored, "/equality/plain/1/error/where"), "bn1.bias");
  RunRecord infinite = fullRecord();
  infinite.equality->error.whole = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(recordFromJson(json::parse(toJson(infinite).dump())) == infinite);
  *find(stored, "/equality/reason") = "";
  *find(stored, "/equality/plain") = json::array();
  EXPECT_NE(failureOf(stored).find("equality: without a reason"), std::string::npos) << failureOf(stored);
  stored.erase("equality");
  EXPECT_FALSE(recordFromJson(stored).equality) << "records from before have none";
}

TEST(RecordJson, ANewerSchemaIsRefused) {
  json stored = toJson(fullRecord());
  stored["schema"] = RunRecord::currentSchema + 1;
  EXPECT_NE(failureOf(stored).find("'schema' is 2"), std::string::npos);
}

TEST(RecordJson, TheDocumentNamesEveryMember) {
  std::ifstream file(testsFolder() + "/../docs/METRICS.md");
  std::stringstream document;
  document << file.rdbuf();
  const auto named = [&](const std::string& name) {
    EXPECT_NE(document.str().find("`" + name + "`"), std::string::npos) << name;
  };
  const json stored = toJson(fullRecord());
  for (const auto& [name, value] : stored.items()) {
    named(name);
    if (!value.is_object() || name == "config") continue;
    for (const auto& [inner, ignored] : value.items()) named(inner);
  }
}

}  // namespace
}  // namespace tandem
