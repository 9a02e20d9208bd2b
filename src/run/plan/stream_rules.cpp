
#include "base/catalog.h"
#include "base/text.h"
#include "config/device_set.h"
#include "run/plan/rule_check.h"
#include "run/plan/rules.h"

namespace tandem {
namespace {

std::string given(const Config& config) { return concat("--input=", config.input.source); }

std::string thoseAtAddresses() { return thoseWith("--input", sources(), &SourceEntry::atAddress); }

Breach replicasTakeEqualBatches(const Config& config, const Setup& setup) {
  if (setup.source->stream == nullptr) return std::nullopt;
  if (config.step.batch == Config::mostThatFits) {
    return concat(given(config), " with --batch=max: the sender says how large a batch is; give a number");
  }
  if (config.step.split == Config().step.split) return std::nullopt;
  return concat(given(config), " with --split=", config.step.split,
                ": the messages of a sender are of one size; use --split=", Config().step.split);
}

Breach oneProcessWaitsAtAnAddress(const Config& config, const Setup& setup) {
  if (!setup.source->atAddress || config.input.zmqConnect || config.placement.ranks == 1) return std::nullopt;
  return concat(given(config), " with ", config.placement.ranks,
                " ranks: one process alone can wait at an address; let the sender wait there, and give --zmq-connect");
}

Breach addressesHaveUsers(const Config& config, const Setup& setup) {
  if (setup.source->atAddress) return std::nullopt;
  const auto refuse = [&](std::string_view option) {
    return concat(option, " does nothing with ", given(config), "; only ", thoseAtAddresses(), " uses it");
  };
  if (config.input.zmqConnect) return refuse("--zmq-connect");
  if (!config.input.zmqKeys.empty()) return refuse("--zmq-keys");
  if (config.input.insecureZmq) return refuse("--insecure-zmq");
  return std::nullopt;
}

Breach argumentsHaveReaders(const Config& config, const Setup& setup) {
  if (setup.sourceArgument.empty() || setup.source->stream != nullptr) return std::nullopt;
  return concat(given(config), ": ", setup.source->name, " takes nothing behind a colon");
}

Breach producersMakeBatches(const Config& config, const Setup& setup) {
  const auto hasProducers = [](const SourceEntry& row) { return row.queued && row.stream == nullptr; };
  if (!setup.loader->byProcesses || hasProducers(*setup.source)) return std::nullopt;
  return concat("--loader=", config.input.loader, " with --input=", setup.source->name, ": only ",
                thoseWith("--input", sources(), hasProducers), " has producers; leave one of them out");
}

constexpr Breach (*streamRules[])(const Config&, const Setup&) = {
    replicasTakeEqualBatches, oneProcessWaitsAtAnAddress, addressesHaveUsers,
    argumentsHaveReaders,     producersMakeBatches,
};

}  // namespace

void checkStream(const Config& config, const Setup& setup) { requireAll(streamRules, config, setup); }

}  // namespace tandem
