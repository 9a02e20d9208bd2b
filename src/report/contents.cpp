#include "report/contents.h"

#include <algorithm>
#include <array>

#include "report/analysis/comparison.h"
#include "report/tables/equality_table.h"
#include "report/tables/tables.h"

namespace tandem {
namespace {

std::vector<ResultTable> runsTables(const ReportRuns& runs) { return {buildTable(runs.all())}; }

std::vector<ResultTable> scalingTables(const ReportRuns& runs) { return runs.figures().scaling; }
std::vector<ResultTable> sideBySideTables(const ReportRuns& runs) { return runs.figures().sideBySide; }
std::vector<ResultTable> ratioTables(const ReportRuns& runs) { return runs.figures().ratios; }

std::vector<ResultTable> rightTables(const ReportRuns& runs) { return howItComparesTables(runs); }

std::vector<ResultTable> takenApartTables(const ReportRuns& runs) { return profileTables(runs); }

std::vector<ResultTable> environmentTables(const ReportRuns& runs) { return {environmentTable(runs)}; }

constexpr std::array sections{
    ReportSection{
        .id = "scaling",
        .title = "Scaling",
        .text = "Rate, speed-up over one device and efficiency, against ideal (dashed). A hollow point has a caveat, "
                "a star in the table.",
        .make = scalingTables,
        .inText = 6,
    },
    ReportSection{
        .id = "side-by-side",
        .title = "Strategies and options side by side",
        .text = "Rates by the values of each option that differs, all others equal. A hollow bar has a caveat.",
        .make = sideBySideTables,
    },
    ReportSection{
        .id = "runs",
        .title = "Runs",
        .text =
            "Every configuration in the order of the files; numbers are medians of its runs. Rows with a mark have a "
            "caveat, which the notes below explain; a number that was not measured is empty.",
        .make = runsTables,
        .inText = 2,
    },
    ReportSection{
        .id = "ratios",
        .title = "Ratios",
        .text = "One value of an option against another, all others equal.",
        .make = ratioTables,
        .inText = 7,
    },
    ReportSection{
        .id = "devices",
        .title = "One device at a time",
        .text = "Runs of one replica that differ in their device alone, in % of the first device.",
        .make = deviceRateTables,
        .inText = 5,
        .afterBench = 2,
    },
    ReportSection{
        .id = "right",
        .title = "Is my number right?",
        .text = "Each run beside the two ceilings of its machine, and beside the nearest figure that somebody else "
                "published for such a device.",
        .make = rightTables,
        .inText = 4,
        .afterBench = 3,
        .onFastest = howItComparesLines,
    },
    ReportSection{
        .id = "input",
        .title = "Does input limit it?",
        .text = "The runs with --data: the share of a step that waits for its batch, and the rate without that. On a "
                "CPU producers take cores from training too, which is not in it. An epoch trains every image once.",
        .make = inputTables,
        .inText = 9,
        .afterBench = 4,
        .oneByOne = true,
        .onFastest = inputLines,
    },
    ReportSection{
        .id = "equal",
        .title = "Do they compute the same?",
        .text = "The first steps of each run, made once more: how far the change of its weights is from that of one "
                "replica in fp64, |w - reference| / |reference - start|, beside plain ATen on the same steps. To one "
                "replica: the same measure from one replica with the same kernels.",
        .make = equalityTables,
        .inText = 8,
    },
    ReportSection{
        .id = "step",
        .title = "Where a step's time goes",
        .text = "Mean of the measured steps of all replicas. Exchange is what remains after it was overlapped with "
                "backward, the update included.",
        .make = stepPartsTables,
        .oneByOne = true,
    },
    ReportSection{
        .id = "profile",
        .title = "Steps taken apart",
        .text =
            "The runs with --profile. For each: the median of each part of a step by replica, the replica that comes "
            "last to the exchange, the work of a step beside the measured peaks, and the time at which each replica "
            "comes to each exchange. For GPUs also the kernels of a step, what they achieve, and the gaps between "
            "them.",
        .make = takenApartTables,
        .inText = 3,
        .afterBench = 1,
    },
    ReportSection{
        .id = "telemetry",
        .title = "Telemetry over time",
        .text = "One line per device, from the first step to the last; the phases of the run are marked. Tables give "
                "the median of each phase.",
        .make = telemetryTables,
        .oneByOne = true,
    },
    ReportSection{
        .id = "distribution",
        .title = "Distribution of step times",
        .text = "Each measured step counts with its slowest replica.",
        .make = stepTimesTables,
        .oneByOne = true,
    },
    ReportSection{
        .id = "environment",
        .title = "Environment",
        .text = "What the runs were measured on.",
        .make = environmentTables,
        .inText = 1,
    },
};

}  // namespace

std::span<const ReportSection> reportSections() { return sections; }

std::vector<const ReportSection*> sectionsOf(ReportForm form) {
  std::vector<const ReportSection*> chosen;
  for (const ReportSection& section : sections) {
    if (section.*form > 0) chosen.push_back(&section);
  }
  std::ranges::sort(chosen, {}, [&](const ReportSection* section) { return section->*form; });
  return chosen;
}

std::vector<ResultTable> titledTables(const ReportSection& section, const ReportRuns& runs) {
  auto tables = section.make(runs);
  for (ResultTable& table : tables) {
    if (table.title.empty()) table.title = section.title;
  }
  return tables;
}

}  // namespace tandem
