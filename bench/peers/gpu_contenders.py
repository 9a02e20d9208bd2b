"""What runs against what on a GPU: Tandem and PyTorch in every precision of as many bits; and what is taken apart."""
import dataclasses
import json
import pathlib
import re
from dataclasses import dataclass

import machine
from contenders import HERE, Contender, RunFailed, finished, read_pytorch, read_tandem
from models import MODELS

LIST_MODES = "import json, torch._inductor as i; print(json.dumps(list(i.list_mode_options())))"
# Tandem's and PyTorch's, the best of each side against one another.
PRECISIONS = {"16-bit": (["bf16", "fp16"], ["autocast", "autocast-fp16"]), "32-bit": (["fp32", "tf32"], ["fp32", "tf32"])}
# Rough seconds from the start of a program to its first step; later ones find kernels in torch.compile's cache.
TANDEM_START_S = 10
CHOOSING_S = 120   # that one may measure
EAGER_START_S, COMPILED_START_S, TUNED_START_S = 15, 60, 150


@dataclass(frozen=True)
class Case:
    model: str
    batch: int
    warmup: int      # steps before the measurement
    steps: int       # measured, 2 to 5 s on a large GPU
    step_s: float    # rough seconds, only to see what fits the budget


# The most telling first: they are what a short call has time for.
CASES = [Case("resnet50", 256, 15, 40, 0.1), Case("resnet50", 32, 20, 200, 0.02), Case("resnet20", 128, 30, 500, 0.008),
         Case("vgg16", 128, 10, 40, 0.1), Case("mobilenet_v2", 128, 15, 80, 0.05), Case("densenet121", 128, 15, 40, 0.1)]
# A step that computes much and one of many short kernels. A profile keeps what the GPU does in the last six steps.
LARGE, SHORT = Case("resnet50", 256, 15, 40, 0.1), Case("resnet20", 128, 15, 40, 0.008)
PROFILED = [(LARGE, "bf16"), (LARGE, "fp16"), (SHORT, "bf16")]
# Of pytorch_train.py, and what else it may be asked for.
MODES, ALL_MODES = ["eager", "compile", "reduce-overhead"], "all"


@dataclass(frozen=True)
class Tandem:
    """The program, the file for its records, and the folder where its kernels' times lie."""
    program: pathlib.Path
    records: pathlib.Path
    cache: pathlib.Path


def run_of(case, precision):
    """A run as bench/peers describes it."""
    return {"model": case.model, "precision": precision, **dataclasses.asdict(MODELS[case.model]),
            **dataclasses.asdict(case)}


def runs():
    """Each case in each precision, 16-bit first."""
    return [run_of(case, precision) for precision in PRECISIONS for case in CASES]


def name_of(run):
    return f"{run['model']} b{run['batch']} {run['precision']}"


def case_name(run):
    """As --cases takes it."""
    return f"{run['model']}:{run['batch']}:{run['precision']}"


def modes(python):
    """Of pytorch_train.py: eager, and all that this torch.compile lists."""
    known = json.loads(machine.output(python, "-c", LIST_MODES).splitlines()[-1])
    return ["eager", *("compile" if mode == "default" else mode for mode in known)]


def bench(run, tandem, precision, *options):
    return [tandem.program, "bench", f"--model={run['model']}", "--devices=cuda:0", f"--batch={run['batch']}",
            f"--lr={run['lr']}", f"--precision={precision}", "--input=device", "--repeats=1", "--verify=off",
            "--allow-interference", *options]  # as it meets all


def of_tandem(run, tandem, precision):
    command = bench(run, tandem, precision, f"--warmup={run['warmup']}", f"--steps={run['steps']}")
    return Contender(f"tandem {precision}", "tandem", 1, command, read_graphed, TANDEM_START_S + work_s(run),
                     kept(tandem), tandem.records)


def kept(tandem):
    return {"TANDEM_CACHE": str(tandem.cache)}


def choosing(run, tandem, precision):
    """A run that fills the cache with the times of kernels and has no rate. It is in no record, and goes on where one
    before it was ended."""
    return Contender(f"kernels of {name_of(run | {'precision': precision})}", "tandem", 1,
                     bench(run, tandem, precision, "--warmup=1", "--steps=2", f"--kernel-seconds={CHOOSING_S}"),
                     read_nothing, TANDEM_START_S, kept(tandem))


def read_nothing(_, path):
    finished(path)
    return {}


def graph_of(path):
    """Whether the step was a CUDA graph in the last run of a file."""
    return finished(path)["placement"].get("graph") or "not known"


def read_graphed(output, path):
    return read_tandem(output, path) | {"graph": graph_of(path)}


def pytorch(run, python, mode, precision):
    command = [python, HERE / "pytorch_train.py", f"--model={run['model']}", "--device=cuda:0", f"--batch={run['batch']}",
               f"--precision={precision}", f"--mode={mode}", f"--warmup={run['warmup']}", f"--steps={run['steps']}"]
    side = "pytorch eager" if mode == "eager" else "pytorch compile"
    return Contender(f"pytorch {precision} {mode}", side, 1, command, read_pytorch, start_s(mode) + work_s(run))


def start_s(mode):
    return EAGER_START_S if mode == "eager" else TUNED_START_S if mode.startswith("max-autotune") else COMPILED_START_S


def work_s(run):
    return (run["warmup"] + run["steps"]) * run["step_s"]


def contenders(run, tandem, python, modes_of_pytorch):
    """Tandem, and PyTorch in every setting that may be its best."""
    ours, precisions = PRECISIONS[run["precision"]]
    return [of_tandem(run, tandem, precision) for precision in ours] + \
           [pytorch(run, python, mode, precision) for mode in modes_of_pytorch for precision in precisions]


def profiles(tandem):
    """Tandem in runs that are taken apart, the step a CUDA graph: --cuda-graph=on refuses what cannot be one. Each with
    its run."""
    found = []
    for run in (run_of(case, precision) for case, precision in PROFILED):
        plain = of_tandem(run, tandem, run["precision"])
        found.append((run, dataclasses.replace(plain, name=name_of(run), read=read_profile,
                                               command=[*plain.command, "--cuda-graph=on", "--profile"])))
    return found


def read_profile(output, path):
    """The tables of the GPU's step, its kernels, operations and gaps, and the share of it in which the GPU is idle."""
    device = finished(path)["profile"]["device"]
    tables = [part.rstrip() for part in re.split(r"\n{2,}", output) if re.match(r"\w+ of a step: ", part)]
    if not tables:
        raise RunFailed(f"what the GPU did is not known: {device['missing'] or 'no table of a step in the output'}")
    steps = device["devices"][0]
    return {"tables": "\n\n".join(tables), "graph": graph_of(path),
            "idle percent": 100 * (1 - steps["busy_ns"] / steps["wall_ns"])}
