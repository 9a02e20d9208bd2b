"""What runs against what: the commands of each case, and how a rate is read from what they print."""
import json
import os
import pathlib
import shlex
import subprocess
import tempfile
from dataclasses import dataclass, field

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]

# Steps of one run in fp32, so that it measures for 10 to 20 s on two cores; bf16 takes twice as many.
RUN_LENGTH = {"resnet50": {"batch": 32, "warmup": 2, "steps": 5}, "resnet20": {"batch": 128, "warmup": 15, "steps": 70}}

# Keeps freed memory in the heap: without it each step returns its activations to the kernel and faults them in again.
PEER_TUNABLES = "glibc.malloc.mmap_threshold=4294967296:glibc.malloc.trim_threshold=4294967296"


class RunFailed(Exception):
    pass


def shown(part):
    """A part of a command without the folders of this machine."""
    path = pathlib.Path(str(part))
    if not path.is_absolute():
        return str(part)
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name


@dataclass
class Contender:
    name: str
    side: str                     # "tandem", "pytorch" or "tandem 1 replica"
    command: list
    environment: dict = field(default_factory=dict)

    def text(self):
        """What a person types to repeat one run."""
        variables = [f"{name}={value}" for name, value in self.environment.items()]
        return shlex.join(variables + [shown(part) for part in self.command])

    def run(self, timeout):
        """Images/s of one run, with what else the program said."""
        with tempfile.TemporaryDirectory() as folder:
            command = [str(part) for part in self.command]
            record = pathlib.Path(folder) / "record.jsonl"
            if self.side != "pytorch":
                command += ["--format=json", f"--out={record}"]
            try:
                done = subprocess.run(command, env=os.environ | self.environment, cwd=ROOT, text=True, timeout=timeout,
                                      stdin=subprocess.DEVNULL, capture_output=True)
            except subprocess.TimeoutExpired:
                raise RunFailed(f"{self.name}: no result after {timeout} s") from None
            if done.returncode:
                raise RunFailed(f"{self.name}: exit {done.returncode}: {self.text()}\n{done.stderr[-2000:]}")
            return read_tandem(record) if self.side != "pytorch" else json.loads(done.stdout.splitlines()[-1])


def read_tandem(path):
    record = json.loads(path.read_text().splitlines()[-1])
    if record["outcome"]["kind"] != "ok":
        raise RunFailed(f"tandem: {record['outcome']['kind']}: {record['outcome']['reason']}")
    seconds = record["window_ns"] / 1e9
    return {"images_per_s": record["global_batch"] * record["measured_steps"] / seconds,
            "step_s": [nanos / 1e9 for nanos in record["samples"]["wall_ns"]],
            "losses": record["losses"][-1:], "commit": record["environment"]["commit"]}


def tandem(program, run, replicas, cores_each, extra):
    return [program, "bench", f"--model={run['model']}", f"--batch={run['batch'] // replicas}", f"--replicas={replicas}",
            f"--cores-per-replica={cores_each}", f"--precision={run['precision']}", f"--warmup={run['warmup']}",
            f"--steps={run['steps']}", *extra]


def pytorch(python, run, processes, cpus, variant, mode):
    return [python, HERE / "pytorch_train.py", f"--model={run['model']}", f"--batch={run['batch'] // processes}",
            f"--precision={variant}", f"--mode={mode}", f"--processes={processes}", f"--cpus={','.join(map(str, cpus))}",
            f"--warmup={run['warmup']}", f"--steps={run['steps']}"]


def peers(python, run, processes, cpus, options):
    """PyTorch in every setting that may be its best: for bf16 autocast and a bf16 model."""
    variants = ["fp32"] if run["precision"] == "fp32" else ["autocast", "bf16"]
    kind = "DDP" if processes > 1 else "1 process"
    return [Contender(f"pytorch {kind} {variant} {mode}", "pytorch", pytorch(python, run, processes, cpus, variant, mode),
                      {"GLIBC_TUNABLES": options.peer_tunables} if options.peer_tunables else {})
            for variant in variants for mode in options.modes]


def contenders(case, run, cpus, python, options):
    """Tandem first. `single`: one replica against one process on the same cores. `ddp`: a replica per core against DDP
    with a process per core, and against one replica on all of them, at the same global batch."""
    count = len(cpus)
    one = tandem(options.tandem, run, 1, count, options.tandem_args)
    if case == "single":
        return [Contender(f"tandem 1 x {count} cores", "tandem", one), *peers(python, run, 1, cpus, options)]
    many = tandem(options.tandem, run, count, 1, ["--strategy=replicated", *options.tandem_args])
    return [Contender(f"tandem {count} x 1 core", "tandem", many), *peers(python, run, count, cpus, options),
            Contender(f"tandem 1 x {count} cores", "tandem 1 replica", one)]
