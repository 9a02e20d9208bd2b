#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "data/loader/loader_rate.h"
#include "run/plan/plan.h"

namespace tandem {

/// What trains, beside the images that it needs.
struct InputDemand {
  double imagesPerSecond = 0;  ///< that the devices take when no time goes into loading
  int64_t devices = 1;
  int64_t cores = 1;         ///< on which inputs can be made
  bool sharesCores = false;  ///< the devices are these cores
};

/// A way in which images are kept and decoded.
struct InputWay {
  std::string name;                  ///< "--decode=fast", "packed pixels 256x256"
  LoaderRate one = {}, all = {};     ///< on one core, and on each of InputDemand::cores
  bool ofConfig = false;             ///< the configuration's own
  std::optional<double> bytes = {};  ///< of the whole data set, where it must be made anew
};

struct InputSizing {
  InputDemand demand;
  int64_t producers = 1;            ///< of the configuration, per device
  int64_t images = 0;               ///< of the data set
  std::vector<InputWay> ways = {};  ///< the configuration's own is the first
  int64_t memoryBytes = 0;          ///< free on the host
};

/// images/s that training reaches with so many producers per device.
///
/// Inputs come as fast as the producers' cores make them. Devices with processors of their own then take what comes:
/// min(demand, supply). Of devices that share their cores with producers an image takes the time of both, at full use
/// of all cores: 1 / (1 / demand + 1 / supply on all cores), and no more than the producers make.
double reachedRate(const InputDemand& demand, const InputWay& way, int64_t producers);

/// The least number of producers per device beyond which more would not help by 1 %.
int64_t usefulProducers(const InputDemand& demand, const InputWay& way);

/// Cores that make inputs as fast as a device takes them.
double coresPerDevice(const InputDemand& demand, const InputWay& way);

/// In one sentence: whether loading limits training, and which changes would give at least 5 % more.
std::string adviceText(const InputSizing& sizing);

/// The configuration that measures a plan's devices alone: images are synthetic, of the plan's size and classes.
Config withoutLoading(const RunPlan& plan);

/// Measures each way of loading a plan's data, in turns, for about `length` in all. Packed pixels are images in
/// memory, decoded and scaled to 256/224 of the input. `demand`: its rate is not read. Throws as trainingData() and
/// BatchMaker::make(). REQUIRES: the plan has data.
std::vector<InputWay> measureInput(const RunPlan& plan, const InputDemand& demand, Nanos length);

/// The devices of a plan and the cores where inputs are made for them; the rate is not known yet.
InputDemand demandOf(const RunPlan& plan);

}  // namespace tandem
