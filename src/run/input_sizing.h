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
  std::string name;               ///< "--decode=fast", "packed pixels"
  LoaderRate one = {}, all = {};  ///< on one core, and on each of InputDemand::cores
  bool ofConfig = false;          ///< the configuration's own
  std::string command = {};       ///< by which the data set is made anew for it; empty: it need not
  double bytes = 0;               ///< of what that makes
};

struct InputSizing {
  InputDemand demand;
  int64_t producers = 1;            ///< of the configuration, per device, or inTheStep
  int64_t images = 0;               ///< of the data set
  std::vector<InputWay> ways = {};  ///< the configuration's own is the first
  int64_t memoryBytes = 0;          ///< free on the host
};

/// `producers` of what follows: threads per device that make inputs ahead; inTheStep: the replica's own threads make
/// them at the beginning of a step (--input=host).
constexpr int64_t inTheStep = 0;

/// images/s that training reaches.
///
/// Devices with processors of their own take what producers make: min(demand, supply). Of devices that share their
/// cores an image takes the time of both, 1 / (1 / demand + 1 / supply), where what is made in the step has all cores.
/// A producer has one at a time: the replica's other threads wait for the one whose core it is. More of them help only
/// while the replica waits, and let it run at half its speed else: 1 / (2 / demand + 1 / supply of the producers).
/// docs/DATA.md has what was measured.
double reachedRate(const InputDemand& demand, const InputWay& way, int64_t producers);

/// The least number of producers that is within 1 % of the best, or inTheStep where none is.
int64_t bestProducers(const InputDemand& demand, const InputWay& way);

/// Whether the source makes a data set's batches at the beginning of a step.
bool makesInTheStep(const SourceEntry& source);

/// The option for it: "--producers=2", "--input=host".
std::string feedText(int64_t producers);

/// images/s as people read them.
std::string rateText(double imagesPerSecond);

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
