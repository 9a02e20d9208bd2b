#pragma once

#include "config/table/row_parts.h"

namespace tandem::option_rows {

inline constexpr Option measurementOptions[] = {
    // clang-format off
    {"scaling", measured, "", "NAME", "weak keeps --batch per replica, strong keeps the global batch",
     onBench, field<&Measurement::scaling>, Values::names, axis, nullptr},
    {"warmup", measured, "steps", "N|auto", "steps before the measurement, at the first rate of --schedule; auto stops when the step time is steady",
     onBench, field<&Measurement::warmup>, Values::any, measuring, warmup},
    {"steps", measured, "steps", "N", "steps measured; 0 takes as many as fit --budget", onBench, field<&Measurement::steps>,
     Values::any, measuring, within<&Measurement::steps, 0, billion>},
    often(onBench, {"budget", measured, "s", "X", "time to measure a point, in all its rounds; without --steps a run takes a fifth of it, with --repeats=N an N-th, with --compare all of it", onBench, field<&Measurement::budget>,
     Values::any, measuring, budget}),
    {"repeats", measured, "", "N|auto",
     "runs of each point, in rounds, each run a process of its own; auto takes 3, and more until the fastest point is told "
     "apart or the budgets of all points are spent; a run with --profile or --save-weights is not repeated; any but "
     "the latter is made again, once in a round, if something disturbed it",
     onBench,
     field<&Measurement::repeats>, Values::any, oneValue, within<&Measurement::repeats, 1, 1000>, {},
     {"auto", Config::automaticRepeats}},
    {"profile", measured, "", "",
     "take each step apart: what every replica spends on input, forward, backward, exchange and update, who comes late, "
     "and the kernels and gaps of GPUs; a run of its own, whose rate is no measurement of throughput", onBench,
     field<&Measurement::profile>, Values::any, measuring, nullptr},
    often(onBench, {"compare", measured, "", "",
     "say whether one configuration is faster than another (or than itself): their runs take turns, A B B A, until 3 % "
     "would be found", onBench, field<&Measurement::compare>, Values::any, oneValue, nullptr}),
    {"program", measured, "", "NAME", "the program that was measured, and its version", inRecordsAlone,
     field<&Measurement::program>, Values::any, axis, nullptr},
    {"verify", measured, "", "NAME",
     "compare the change of the weights in the first steps, made once more, with one replica's in fp64: column equal; "
     "auto does it where it is cheap", onBench, field<&Measurement::verify>, Values::names, oneValue, nullptr},
    // clang-format on
};

inline constexpr Option outputOptions[] = {
    // clang-format off
    often(onFeatures, {"out", output, "", "FILE", "results file, to which every run appends one line; of features the new .npy or .safetensors file", onSteps | onFeatures, field<&Output::out>,
     Values::any, oneValue, out, {}, {}, FileUse::appended}),
    {"trace", output, "", "FILE", "where the course of the steps that --profile took apart goes, for ui.perfetto.dev", onBench,
     field<&Output::trace>, Values::any, oneValue, trace, {}, {}, FileUse::replaced},
    {"format", output, "", "NAME", "form of the table on standard output", onSteps, field<&Output::format>, Values::names,
     oneValue, nullptr},
    often(onBench, {"page", output, "", "FILE", "where the HTML page of these runs goes, with charts and verdicts", onSteps,
     field<&Output::page>, Values::any, oneValue, page, {}, {}, FileUse::replaced}),
    {"tensorboard", output, "", "FOLDER",
     "where TensorBoard's event files go, a folder below it for each point of the sweep and in that one for each run", onSteps,
     field<&Output::tensorboard>, Values::any, oneValue, nullptr, {}, {}, FileUse::filled},
    {"mllog", output, "", "FILE", "file to which each run appends MLPerf's :::MLLOG lines; - is standard output", onSteps,
     field<&Output::mllog>, Values::any, oneValue, nullptr, {}, {}, FileUse::appended},
    {"measure-peaks", output, "", "",
     "measure the peaks of this machine (FLOPs, bytes) anew, instead of taking those kept from an earlier run", onBench,
     field<&Measurement::measurePeaks>, Values::any, oneValue, nullptr},
    {"refresh-kernels", output, "", "",
     "measure anew which kernels are the fastest, instead of taking the times kept from an earlier run", onSteps,
     field<&Measurement::refreshKernels>, Values::any, oneValue, nullptr},
    {"kernel-seconds", output, "s", "X",
     "time for choosing kernels, or a tenth of what the choice saves if that is more; what does not fit runs by older times "
     "or by the default",
     onSteps, field<&Measurement::kernelSeconds>, Values::any, oneValue, within<&Measurement::kernelSeconds, 0, billion>},
    {"point-deadline", output, "s", "X",
     "time after which a point is given up; 0 takes 120 s and 4 x --budget, with --steps 600 s and 30 s per step",
     onBench, field<&Measurement::deadline>, Values::any, oneValue, within<&Measurement::deadline, 0, billion>},
    {"allow-interference", output, "", "",
     "a run that something disturbed is noted as not valid, but ends with exit code 0, not 9", onBench,
     field<&Measurement::allowInterference>, Values::any, oneValue, nullptr},
    {"inject", output, "", "FAULT",
     "put a fault into the run, to see how it ends: rank=2,step=7,phase=backward,kind=sigkill; needs TANDEM_ALLOW_INJECT=1, and "
     "the run is never quoted", onSteps, field<&Measurement::inject>, Values::any, oneValue, inject, {}, {}, FileUse::none, 0,
     /*holdsCommas=*/true},
    {"dry-run", output, "", "", "print the resolved plan of every point and run nothing", onSteps, field<&Output::dryRun>,
     Values::any, oneValue, nullptr},
    // clang-format on
};

}  // namespace tandem::option_rows
