#pragma once

#include <vector>

#include "report/tables/training_tables.h"

namespace tandem {

/// Curves of the trainings over one another: the loss of training steps and of evaluations, and each other figure of
/// evaluations, over epochs and over time; and the learning rate over epochs. A curve that nobody has is left out.
std::vector<Chart> trainingCharts(const std::vector<NamedTraining>& trainings);

/// The rate of a training over time, with its phases behind it.
Chart phasesChart(const NamedTraining& training);

}  // namespace tandem
