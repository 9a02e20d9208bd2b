"""What runs against what: the command of each contender, and how its rate is read from what it prints."""
import itertools
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import tempfile
from dataclasses import dataclass, field, replace
from typing import Callable

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TF_SCRIPT = pathlib.Path("scripts/tf_cnn_benchmarks/tf_cnn_benchmarks.py")

MODES = ["eager", "compile"]
ALLOCATORS = ["default", "tuned"]
PRECISIONS = ["fp32", "bf16"]
BUCKETS = [1, 4, 25]  # MB, of DDP with --distributed; 25 is its default
# Keeps freed memory in the heap: without it each step returns its activations to the kernel and faults them in again.
TUNABLES = "glibc.malloc.mmap_threshold=4294967296:glibc.malloc.trim_threshold=4294967296"
# Rough seconds from the start of a program to its first step.
TANDEM_START_S, PYTORCH_START_S, TENSORFLOW_START_S = 1, 5, 6


class RunFailed(Exception):
    """A run without a rate: why, in one line, and the end of what the program wrote to standard error."""

    def __init__(self, reason, detail=""):
        super().__init__(reason)
        self.detail = detail


class RunTimedOut(RunFailed):
    """A run that was ended because it took too long."""


@dataclass
class Contender:
    name: str
    side: str                     # "tandem", "pytorch 1 process", "pytorch DDP" or "tf_cnn_benchmarks"
    replicas: int                 # of all its processes
    command: list
    read: Callable                # (standard output, record file) -> result with images_per_s
    start_s: float
    variables: dict = field(default_factory=dict)
    records: pathlib.Path = None  # to which Tandem's runs append their records; else nobody keeps them
    program: str = "tandem"       # with its version, as records name it
    ranks: int = 1                # processes of Tandem

    def text(self):
        """What a person types to repeat one run."""
        variables = [f"{name}={shown(value)}" for name, value in self.variables.items()]
        return shlex.join(variables + [shown(part) for part in self.command])

    def run(self, timeout):
        with tempfile.TemporaryDirectory() as folder:
            command = [str(part) for part in self.command]
            record = self.records or pathlib.Path(folder) / "record.jsonl"
            before = record.stat().st_size if record.exists() else 0
            if self.side == "tandem":
                command.append(f"--out={record}")
            output = output_of(command, self.variables, timeout)
            if self.side == "tandem" and (not record.exists() or record.stat().st_size <= before):
                raise RunFailed("ended without a record")
            return self.read(output, record)


def shown(part):
    """A part of a command without the folders of this machine."""
    path = pathlib.Path(str(part))
    if not path.is_absolute():
        return str(part)
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name


def output_of(command, variables, timeout):
    """Standard output of a program. Whatever it started ends with it. Only a contender's own tunables are set."""
    inherited = {name: value for name, value in os.environ.items() if name != "GLIBC_TUNABLES"}
    try:
        process = subprocess.Popen(command, env=inherited | variables, cwd=ROOT, text=True, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    except OSError as failure:
        raise RunFailed(f"cannot start: {failure}") from None
    try:
        output, errors = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        raise RunTimedOut(f"no result after {timeout:.0f} s") from None
    finally:
        kill_group(process)
    if process.returncode:
        raise RunFailed(f"exit {process.returncode}: {reason_in(errors)}", errors[-4000:])
    return output


def kill_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def reason_in(errors):
    """The line that names the error, or the last one."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    named = [line for line in lines if re.match(r"[\w.]*(Error|Exception)\b", line)]
    return (named or lines or ["nothing on standard error"])[-1][:300]


def last_line(text):
    lines = text.splitlines()
    try:
        return json.loads(lines[-1])
    except (IndexError, json.JSONDecodeError):
        raise RunFailed("no line of JSON at the end of the output", text[-4000:]) from None


def finished(path):
    """The record of Tandem's last run in a file."""
    record = last_line(path.read_text())
    if record["outcome"]["kind"] != "ok":
        raise RunFailed(f"{record['outcome']['kind']}: {record['outcome']['reason']}")
    return record


def read_tandem(_, path):
    record = finished(path)
    return {"images_per_s": record["global_batch"] * record["measured_steps"] / (record["window_ns"] / 1e9),
            "step_s": [nanos / 1e9 for nanos in record["samples"]["wall_ns"]], "losses": record["losses"][-1:],
            "parameters": record["placement"]["parameters"]}


def read_and_keep(output, path):
    """With the whole record, beside which those of the peers are written (records.py)."""
    return read_tandem(output, path) | {"record": finished(path)}


def read_pytorch(output, _):
    return last_line(output)


def read_tensorflow(output, _):
    total = re.search(r"^total images/sec: ([\d.]+)$", output, re.MULTILINE)
    if not total:
        raise RunFailed("no line 'total images/sec:' in the output", output[-4000:])
    return {"images_per_s": float(total[1])}


def tandem(run, replicas, cores_each, options, more=(), ranks=1):
    """`replicas` threads of one process, or ranks of one replica each. `more`: further options."""
    command = [options.tandem, "bench", f"--model={run['model']}", f"--batch={run['batch'] // replicas}",
               f"--lr={run['lr']}", f"--replicas={replicas // ranks}", f"--cores-per-replica={cores_each}",
               *([f"--ranks={ranks}"] if ranks > 1 else []), *more,
               f"--precision={run['precision']}", f"--warmup={run['warmup']}", f"--steps={run['steps']}",
               "--repeats=1", "--allow-interference",  # it meets all contenders; nobody judges the peers' runs
               *(["--strategy=replicated"] if replicas > 1 else []), *options.tandem_args]
    name = f"tandem {replicas}{' ranks' if ranks > 1 else ''} x {cores_each} core{'s' if cores_each > 1 else ''}"
    return Contender(name, "tandem", replicas, command, read_and_keep, TANDEM_START_S, ranks=ranks)


def in_each_allocator(contender, options):
    variables = {"default": {}, "tuned": {"GLIBC_TUNABLES": options.tunables}}
    return [replace(contender, name=f"{contender.name} {name}", variables=variables[name],
                    program=contender.program + (", tuned allocator" if name == "tuned" else ""))
            for name in options.allocators]


def program_of(side, version, variant, mode):
    """'PyTorch DDP eager, torch 2.11.0': one process is the plain case, and so is fp32."""
    words = ["PyTorch", *(["DDP"] if side == "pytorch DDP" else []), *([variant] if variant != "fp32" else []), mode]
    return f"{' '.join(words)}, {version}"


def pytorch(run, processes, cpus, python, options):
    """PyTorch in every setting that may be its best: for bf16 autocast and a bf16 model."""
    side = "pytorch DDP" if processes > 1 else "pytorch 1 process"
    found = []
    variants = ["fp32"] if run["precision"] == "fp32" else ["autocast", "bf16"]
    for variant, mode, bucket in itertools.product(variants, options.modes, BUCKETS if options.distributed else [None]):
        command = [python, HERE / "pytorch_train.py", f"--model={run['model']}",
                   f"--batch={run['batch'] // processes}", f"--precision={variant}", f"--mode={mode}",
                   f"--processes={processes}", f"--cpus={','.join(map(str, cpus))}", f"--warmup={run['warmup']}",
                   f"--steps={run['steps']}", *([f"--bucket-mb={bucket}"] if bucket else [])]
        start = PYTORCH_START_S + (run["compile_s"] if mode == "compile" else 0)
        setting = f"{mode}, buckets of {bucket} MB" if bucket else mode
        name = f"{side} {variant} {setting}" if len(cpus) >= processes else f"{side} x {processes} {variant} {setting}"
        contender = Contender(name, side, processes, command, read_pytorch, start,
                              program=program_of(side, options.versions["pytorch"], variant, setting))
        found += in_each_allocator(contender, options)
    return found


def tensorflow(run, devices, cpus, options):
    """tf_cnn_benchmarks: one device on all cores, or a device per core with the variables on the CPU. fp32 only: its
    16-bit mode is for GPUs."""
    if not (options.tf_cnn_benchmarks and run["tensorflow"]) or run["precision"] != "fp32":
        return []
    threads = len(cpus) // devices
    command = ["taskset", "--cpu-list", ",".join(map(str, cpus)), options.tf_python,
               options.tf_cnn_benchmarks / TF_SCRIPT, *run["tensorflow"], "--device=cpu", f"--num_gpus={devices}",
               "--variable_update=parameter_server", "--local_parameter_device=cpu", f"--num_intra_threads={threads}",
               f"--num_inter_threads={devices}", "--data_format=NHWC", f"--batch_size={run['batch'] // devices}",
               f"--num_batches={run['steps']}", f"--num_warmup_batches={run['warmup']}", "--optimizer=momentum",
               "--weight_decay=0.0001",
               f"--init_learning_rate={run['lr']}"]
    name = f"tf_cnn_benchmarks {devices} x {threads} thread{'s' if threads > 1 else ''}"
    contender = Contender(name, "tf_cnn_benchmarks", devices, command, read_tensorflow, TENSORFLOW_START_S,
                          program=f"tf_cnn_benchmarks, {options.versions['tensorflow']}")
    return in_each_allocator(contender, options)


def distributed(run, cpus, python, options):
    """Several processes beside each other: one per core, then two. Tandem's ranks, and as many threads of one process."""
    found = []
    for replicas in (len(cpus), 2 * len(cpus)):
        more = ["--oversubscribe"] if replicas > len(cpus) else []
        found += [tandem(run, replicas, 1, options, more, ranks) for ranks in (1, replicas)]
        found += pytorch(run, replicas, cpus, python, options)
    return found


def contenders(run, cpus, python, options):
    """Everything that may be the fastest on these cores: one replica on all of them, and a replica per core."""
    if options.distributed:
        return distributed(run, cpus, python, options)
    found = []
    for replicas in sorted({1, len(cpus)}):
        found += [tandem(run, replicas, len(cpus) // replicas, options), *pytorch(run, replicas, cpus, python, options),
                  *tensorflow(run, replicas, cpus, options)]
    return found
