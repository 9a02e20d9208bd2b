#include "run/links/link_order.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"

namespace tandem {

std::string textOf(const LinkOrder& order) {
  return nlohmann::json{{"part", order.part},       {"sizes", order.sizes},       {"repeats", order.repeats},
                        {"seconds", order.seconds}, {"replicas", order.replicas}, {"gpus", order.gpus},
                        {"rank", order.rank},       {"port", order.port}}
      .dump();
}

LinkOrder orderOfLinks(const std::string& text) {
  try {
    const auto object = nlohmann::json::parse(text);
    return {.part = object.at("part").get<std::string>(),
            .sizes = object.at("sizes").get<std::vector<int64_t>>(),
            .repeats = object.at("repeats").get<int64_t>(),
            .seconds = object.at("seconds").get<double>(),
            .replicas = object.at("replicas").get<std::vector<int64_t>>(),
            .gpus = object.at("gpus").get<std::vector<int>>(),
            .rank = object.at("rank").get<int>(),
            .port = object.at("port").get<int>()};
  } catch (const nlohmann::json::exception& failure) {
    throw UsageError(concat("links-worker is started by 'tandem links', not by hand: ", lineOf(failure)));
  }
}

RepetitionLimits limitsOf(const LinkOrder& order, size_t series) {
  const size_t points = std::max<size_t>(1, series * order.sizes.size());
  return {.most = order.repeats, .seconds = order.seconds / static_cast<double>(points)};
}

std::vector<int64_t> replicaNumbers(int64_t cores) {
  std::vector<int64_t> numbers;
  for (int64_t count = 2; count < cores; count *= 2) numbers.push_back(count);
  if (cores >= 2) numbers.push_back(cores);
  return numbers;
}

std::vector<ThreadPair> pairsByPart(const std::vector<int>& threads,
                                    const std::vector<std::vector<std::string>>& shared) {
  std::vector<ThreadPair> pairs;
  for (size_t i = 0; i < threads.size(); ++i) {
    for (size_t j = i + 1; j < threads.size(); ++j) {
      const std::string& part = shared[i][j];
      if (std::ranges::find(pairs, part, &ThreadPair::shares) != pairs.end()) continue;
      pairs.push_back({threads[i], threads[j], part});
    }
  }
  return pairs;
}

}  // namespace tandem
