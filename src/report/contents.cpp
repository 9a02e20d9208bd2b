#include "report/contents.h"

#include <algorithm>
#include <array>

#include "report/analysis/comparison.h"
#include "report/tables/class_tables.h"
#include "report/tables/equality_table.h"
#include "report/tables/tables.h"
#include "report/tables/training_tables.h"
#include "report/tables/wrong_table.h"

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
        .id = "trainings",
        .title = "Trainings",
        .text =
            "What became of each training, and its course. Figures of evaluations are of the images that it is judged "
            "by; training loss is the mean of some steps each.",
        .make = trainingTables,
        .inText = 3,
        .afterTraining = 1,
    },
    ReportSection{
        .id = "evaluations",
        .title = "Evaluations",
        .text = "The last evaluations of each training, and the best. Training loss is that of the steps since the one "
                "before.",
        .make = evaluationTables,
        .inText = 4,
        .afterTraining = 2,
    },
    ReportSection{
        .id = "classes",
        .title = "By class",
        .text = "Of images with flags the area under the ROC curve of each class; of images of one class the pairs of "
                "classes that are most often taken for one another.",
        .make = classTables,
        .inText = 5,
        .afterTraining = 3,
    },
    ReportSection{
        .id = "confusion",
        .title = "Confusion of classes",
        .text =
            "Images of each class, a row, by the class that they were taken for, in the last evaluation. A cell is as "
            "dark as its share of the row.",
        .make = confusionTables,
    },
    ReportSection{
        .id = "wrong",
        .title = "Wrong predictions",
        .text = "Those of which the network was the surest in the last evaluation, with the probability that it gave "
                "to what it predicted. An image with flags counts with the surest of them that is wrong.",
        .make = wrongTables,
    },
    ReportSection{
        .id = "course",
        .title = "Where a training's time goes",
        .text =
            "Time of steps, of evaluations, and time that training waited for checkpoints; between is what is left. "
            "Charts show the rate of the steps, with these phases behind it.",
        .make = courseTables,
        .inText = 6,
        .afterTraining = 4,
    },
    ReportSection{
        .id = "scaling",
        .title = "Scaling",
        .text = "Rate, speed-up over one device and efficiency, against ideal (dashed). A hollow point has a caveat, "
                "a star in the table.",
        .make = scalingTables,
        .inText = 10,
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
        .inText = 11,
    },
    ReportSection{
        .id = "devices",
        .title = "One device at a time",
        .text = "Runs of one replica that differ in their device alone, in % of the first device.",
        .make = deviceRateTables,
        .inText = 9,
        .afterBench = 2,
    },
    ReportSection{
        .id = "right",
        .title = "Is my number right?",
        .text = "Each run beside the two ceilings of its machine, and beside the nearest figure that somebody else "
                "published for such a device.",
        .make = rightTables,
        .inText = 8,
        .afterBench = 3,
        .onFastest = howItComparesLines,
    },
    ReportSection{
        .id = "input",
        .title = "Does input limit it?",
        .text = "The runs with --data: the share of a step that waits for its batch, and the rate without that. On a "
                "CPU producers take cores from training too, which is not in it. An epoch trains every image once.",
        .make = inputTables,
        .inText = 13,
        .afterBench = 4,
        .afterTraining = 5,
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
        .inText = 12,
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
        .inText = 7,
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
