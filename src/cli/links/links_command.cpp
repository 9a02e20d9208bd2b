#include "cli/links/links_command.h"

#include <algorithm>
#include <optional>

#include "base/catalog.h"
#include "base/error.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/arguments/command_options.h"
#include "config/config.h"
#include "config/device_set.h"
#include "models/model.h"
#include "run/links/link_order.h"

namespace tandem {
namespace {

constexpr int64_t valueBytes = 4, largestSize = int64_t{1} << 50;
constexpr int64_t mostRepeats = 1000;
constexpr double longestBudget = 86'400;
constexpr std::string_view sizesText = "4,1k,32k,256k,1m,4m,16m,64m";
constexpr std::string_view modelsText = "resnet20,resnet50,vgg16,mobilenet_v2";

/// What the options were set to, before the machine is looked at.
struct TypedLinks {
  LinksCommand command;
  std::string devices{Config::automatic};
};

[[noreturn]] void refuse(std::string_view option, const std::string& value, const std::string& rule) {
  throw UsageError(concat("--", option, "=", value, ": ", rule));
}

/// The parts of a list, none of them twice.
std::vector<std::string> listOf(std::string_view option, const std::string& value) {
  auto parts = split(value, ",");
  for (size_t i = 0; i < parts.size(); ++i) {
    if (std::find(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(i), parts[i]) !=
        parts.begin() + static_cast<std::ptrdiff_t>(i)) {
      refuse(option, value, concat("lists ", parts[i], " twice"));
    }
  }
  return parts;
}

void setSizes(TypedLinks& typed, const std::string& value) {
  std::vector<int64_t>& sizes = typed.command.request.sizes;
  sizes.clear();
  for (const std::string& text : listOf("sizes", value)) sizes.push_back(bytesOfSize(text));
  std::ranges::sort(sizes);
  if (std::ranges::adjacent_find(sizes) != sizes.end()) refuse("sizes", value, "lists a size twice");
}

void setReplicas(TypedLinks& typed, const std::string& value) {
  typed.command.request.replicas.clear();
  for (const std::string& text : listOf("replicas", value)) {
    const auto count = numberIn<int64_t>(text);
    if (!count || *count < 2) refuse("replicas", value, "must be whole numbers of 2 or more, as 2,4");
    typed.command.request.replicas.push_back(*count);
  }
}

void setModels(TypedLinks& typed, const std::string& value) {
  typed.command.models = listOf("model", value);
  for (const std::string& model : typed.command.models) modelFacts(model);  // throws for what is none
}

void setRepeats(TypedLinks& typed, const std::string& value) {
  const auto count = numberIn<int64_t>(value);
  if (!count || *count < fewestRepetitions || *count > mostRepeats) {
    refuse("repeats", value, concat("must be a whole number from ", fewestRepetitions, " to ", mostRepeats));
  }
  typed.command.request.repeats = *count;
}

void setBudget(TypedLinks& typed, const std::string& value) {
  const auto seconds = numberIn<double>(value);
  if (!seconds || !(*seconds > 0) || *seconds > longestBudget) {
    refuse("budget", value, concat("must be a number of seconds above 0 and at most ", longestBudget));
  }
  typed.command.request.seconds = *seconds;
}

void setDevices(TypedLinks& typed, const std::string& value) {
  const auto set = parseDeviceSet(value);
  const bool coresNamed = set && set->cpu && !set->indices.empty();
  if (value != Config::automatic && (!set || coresNamed)) {
    refuse("devices", value, "must be auto, cpu (all usable cores), cuda (all GPUs), or GPUs as cuda:0+1");
  }
  typed.devices = value;
}

void setResults(TypedLinks& typed, const std::string& value) { typed.command.results = value; }

void setFormat(TypedLinks& typed, const std::string& value) {
  typed.command.format = &find(renderers(), value, "--format");
}

/// An option. `standard` is the text of its default as help shows it, and is what it is set to, if `fromText`.
struct LinksOption : CommandOption {
  bool fromText;
  void (*set)(TypedLinks&, const std::string&);
};

constexpr LinksOption optionRows[] = {
    {{"--sizes", "LIST", "bytes of a transfer; k, m, g and t are powers of 1024", sizesText}, true, setSizes},
    {{"--replicas", "LIST", "numbers of replicas on cores", "2, 4, 8, ... and all usable cores"}, false, setReplicas},
    {{"--devices", "SET", "auto: cores, and GPUs where there are any; cpu; cuda; or GPUs as cuda:0+1",
      Config::automatic},
     true,
     setDevices},
    {{"--model", "LIST", "networks whose gradients are looked at: names of 'tandem list models' or network files",
      modelsText},
     true,
     setModels},
    {{"--results", "FILE", "results file of bench; runs of one replica on this host give the step times", "no file"},
     false,
     setResults},
    {{"--repeats", "N", "repetitions of a size at most; six are made in any case", "20"}, true, setRepeats},
    {{"--budget", "SECONDS", "time for all repetitions together; processes and first touches come on top", "20"},
     true,
     setBudget},
    {{"--format", "NAME", "table, md, csv, json or html", "table"}, true, setFormat},
};

std::vector<TypedOption> optionsIn(Arguments arguments) {
  TypedArguments typed = typedArguments(arguments);
  if (!typed.operands.empty()) {
    throw UsageError(concat("unexpected argument '", typed.operands.front(),
                            "'; options are written --name=value; see 'tandem links --help'"));
  }
  checkNames(typed.options, namesOf(std::span<const LinksOption>(optionRows)), "option of links");
  return std::move(typed.options);
}

void resolveGpus(TypedLinks& typed, const LinkPlaces& places) {
  LinksRequest& request = typed.command.request;
  const auto set = parseDeviceSet(typed.devices);
  request.cpu = !set || set->cpu;
  if (set && set->cpu) return;
  request.gpus = set && !set->indices.empty() ? set->indices : places.gpus;
  for (const int gpu : request.gpus) {
    if (std::ranges::find(places.gpus, gpu) == places.gpus.end()) throw UsageError(places.refusal(gpu));
  }
  if (set && request.gpus.empty()) throw UsageError(places.refusal(0));
}

void resolveReplicas(TypedLinks& typed, const LinkPlaces& places) {
  std::vector<int64_t>& replicas = typed.command.request.replicas;
  for (const int64_t count : replicas) {
    if (count <= places.cores) continue;
    refuse("replicas", std::to_string(count),
           concat("must be at most the ", places.cores, " usable core(s), one for each replica"));
  }
  if (replicas.empty()) replicas = replicaNumbers(places.cores);
}

}  // namespace

int64_t bytesOfSize(const std::string& text) {
  const auto bytes = bytesIn(text, "kmgt", largestSize);
  if (bytes && *bytes % valueBytes == 0) return *bytes;
  throw UsageError(concat("--sizes=", text, ": must be bytes as 4, 64k, 16m or 1g, from 4 to 1024t, and a multiple of ",
                          valueBytes, ", the bytes of a value"));
}

LinksCommand parseLinks(Arguments arguments, const LinkPlaces& places) {
  const auto given = optionsIn(arguments);
  TypedLinks typed;
  for (const LinksOption& option : optionRows) {
    if (option.fromText) option.set(typed, std::string(option.standard));
  }
  for (const TypedOption& argument : given) {
    find(std::span<const LinksOption>(optionRows), argument.name, "option of links").set(typed, argument.value);
  }
  resolveGpus(typed, places);
  resolveReplicas(typed, places);
  return std::move(typed.command);
}

std::string linksHelp() {
  std::string text =
      "Usage: tandem links [--OPTION=VALUE ...]\n\n"
      "Measures the links of this machine: what two cores share, memory that another core wrote, all-reduces between\n"
      "replicas and between processes, and copies of GPUs. Shows latency and bandwidth over sizes, and how long the\n"
      "gradients of networks take over each link. Started by a launcher ('tandem launch', torchrun, mpirun, srun), it\n"
      "measures what is between those ranks alone. docs/LINKS.md has the formulas.\n\n";
  constexpr size_t leftWidth = 20;
  for (const LinksOption& option : optionRows) text += helpLine(option, leftWidth);
  return text +
         "\n  tandem links --sizes=4k,4m,64m --replicas=2\n"
         "  tandem links --results=tandem-results.jsonl --model=resnet20,resnet50\n";
}

}  // namespace tandem
