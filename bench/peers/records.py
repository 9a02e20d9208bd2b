"""The main runs of a comparison as records of Tandem's results file, for `tandem report`: the program is an axis.

A peer's record is that of Tandem's run in the same shape, with the program, its rate and its steps instead of Tandem's,
and without what only Tandem knows. Work, round, machine and build are those of Tandem's run: they say what the peer was
measured beside.
"""
import copy
import datetime
import hashlib
import json

FIRST = "0" * 64
# What only a run of Tandem tells, by its place in the record.
OWN = {"placement": {"all_reduce": "", "exchange_memory": None, "link": None, "layout": "", "graph": None,
                     "convolution_passes": {}, "zero_channels": None, "by_autograd": [], "activation_bytes": None,
                     "shared_cores": False},
       "interference": {"signs": {}, "reasons": []}, "traffic": {"bytes_per_step": 0.0, "messages_per_step": 0.0},
       "telemetry": {"at_ns": [], "series": [], "phases": [], "cpu_ns": 0}}
OWN_NUMBERS = {"startup_ns": None, "wall_ns": None, "minor_faults": 0, "peak_memory_bytes": None,
               "peak_reserved_bytes": None, "skipped_steps": None, "loss_scale": None, "energy_joules": None,
               "losses": []}
SAMPLES = ("replica", "wall_ns", "input_ns", "compute_ns", "exposed_comm_ns")


def nanos(seconds):
    return round(seconds * 1e9)


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def samples(result, replicas):
    """The steps of one process; of several, only one tells its own, and they stay unknown."""
    walls = [nanos(step) for step in result.get("step_s", [])] if replicas == 1 else []
    columns = {name: [0] * len(walls) for name in SAMPLES}
    return columns | {"wall_ns": walls, "compute_ns": walls}


def of_peer(template, contender, result):
    """The record of a peer's run, from that of Tandem in its shape."""
    record = copy.deepcopy(template)
    for part, values in OWN.items():
        record[part] |= values
    record |= OWN_NUMBERS
    record["config"]["program"] = contender.program
    record["samples"] = samples(result, contender.replicas)
    record["window_ns"] = nanos(record["global_batch"] * record["measured_steps"] / result["images_per_s"])
    record["time"] = now()
    record["environment"]["variables"] = contender.variables
    record["notes"] = [f"{contender.name}, run by bench/peers: {contender.text()}"]
    return record


class Records:
    """Appends to a results file. Who appends to it as well, as `tandem bench --out`, goes on with its chain of seals."""

    def __init__(self, path):
        self.path, self.began = path, now()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        self.previous = FIRST

    def append(self, record):
        text = json.dumps({name: record[name] for name in sorted(record) if name != "seal"}, sort_keys=True,
                          separators=(",", ":"), ensure_ascii=False)
        digest = hashlib.sha256((self.previous + text).encode()).hexdigest()
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(f'{text[:-1]},"seal":{{"previous":"{self.previous}","sha256":"{digest}"}}}}\n')
        self.previous = digest

    def add_case(self, sweep, field, runs):
        """The main rounds of a case. A round without Tandem in a peer's shape leaves the peer out."""
        for turn in range(max((len(results) for results in runs.values()), default=0)):
            of_turn = [(contender, runs[contender.name][turn]) for contender in field
                       if len(runs.get(contender.name, [])) > turn]
            own = sorted((pair for pair in of_turn if "record" in pair[1]), key=lambda pair: pair[0].ranks)
            templates = {c.replicas: result["record"] for c, result in own}  # of several in one shape, the most ranks
            for contender, result in of_turn:
                record = result.get("record")
                if record is None and contender.replicas in templates:
                    record = of_peer(templates[contender.replicas], contender, result)
                if record is not None:
                    self.append(record | {"sweep": sweep, "round": turn + 1})
