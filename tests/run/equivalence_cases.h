#pragma once

#include <string>
#include <vector>

#include "run/equivalence_team.h"
#include "support/precisions.h"

namespace tandem::equivalence {

/// Of a lossy strategy, which must then give what the others do.
inline CompressionOptions withoutLoss() {
  return {.method = &find(compressions(), "topk", "compression"), .ratio = 1};  // leaves nothing out
}

/// A strategy with each of its own options.
inline std::vector<Case> variantsOf(const StrategyEntry& strategy, const Graph& graph) {
  std::vector<Case> variants;
  if (strategy.name == "parameter_server") {
    for (const char* device : {"cpu", "device", "cpu:0"}) {
      variants.push_back({.graph = &graph, .strategy = &strategy, .parameterDevice = device});
    }
    return variants;
  }
  for (const AllReduceEntry& allReduce : allReduces()) {
    if (!allReduce.onCpu || !accepts(strategy, allReduce)) continue;
    for (const int nodes : {1, 2}) {
      variants.push_back({.graph = &graph, .strategy = &strategy, .allReduce = std::string(allReduce.name)});
      variants.back().compression = withoutLoss();
      variants.back().nodes = nodes;
      if (!allReduce.ownersUpdate) break;  // the others do not look at nodes
    }
  }
  return variants;
}

/// The cross product of the catalogs: what conformance means.
inline std::vector<Case> casesOf(const StrategyEntry& strategy, const Graph& graph) {
  std::vector<Case> cases;
  for (Case c : variantsOf(strategy, graph)) {
    for (const Precision& precision : precisionsOnCpu()) {
      for (const LossPlacementEntry& place : lossPlacements()) {
        for (const ExecutorEntry& executor : executors()) {
          for (const int replicas : {1, 2, 3, 4}) {
            c.precision = precision.name;
            c.lossAt = place.name;
            c.executor = executor.name;
            c.replicas = replicas;
            cases.push_back(c);
          }
        }
      }
    }
  }
  return cases;
}

}  // namespace tandem::equivalence
