"""A case, one model in one precision: a qualifying round of all contenders, then the main rounds of the fastest."""
import random
import statistics
import time
from dataclasses import dataclass

from contenders import RunFailed


@dataclass
class Plan:
    qualifiers: int          # runs of everybody
    pairs: int               # main rounds
    timeout: float           # seconds that a run may take
    margin: float = 0.15     # behind the best of its side with which a contender still goes on

    def seconds_for(self, contender):
        """That its next run may take. A plan may raise here to end the case, which measure() can go on with later."""
        return self.timeout

    def took(self, contender, seconds, failure):
        """After each run; `failure` is None where it has a rate."""


def measure(record, field, plan, say):
    """Fills the record of the case, or what its runs so far leave to do; raises RunFailed when Tandem itself fails."""
    for name, begin in (("qualifying", {}), ("main", {}), ("failures", {})):
        record.setdefault(name, begin)
    record["commands"] = {c.name: c.text() for c in field}
    play(record, "qualifying", field, plan.qualifiers, plan, say)
    play(record, "main", qualified(field, record, plan.margin), plan.pairs, plan, say)


def play(record, part, field, rounds, plan, say):
    """Each round runs every contender once, one after the other, so that a slow phase of the machine hits all alike. The
    order of a main round is shuffled anew, and the same whenever the case is gone on with. The runs that qualify go by
    the field's order, in which a budget that ends early has the least to lose."""
    runs = record[part]
    for contender in field:
        runs.setdefault(contender.name, [])
    for turn in range(rounds):
        for contender in shuffled(field, turn) if part == "main" else field:
            if contender.name in record["failures"] or len(runs[contender.name]) > turn:
                continue
            limit, start = plan.seconds_for(contender), time.monotonic()
            try:
                result = contender.run(limit)
            except RunFailed as failure:
                plan.took(contender, time.monotonic() - start, failure)
                if contender.side == "tandem":
                    raise type(failure)(f"{contender.name}: {failure}", failure.detail) from None
                record["failures"][contender.name] = {"reason": str(failure), "detail": failure.detail}
                say(f"  {contender.name}: failed: {failure}")
                continue
            runs[contender.name].append(result)
            plan.took(contender, time.monotonic() - start, None)
            say(f"  {part} {turn + 1}/{rounds}  {contender.name:44} {result['images_per_s']:9.2f} images/s")
        leave_other_networks_out(record, field, say)


def shuffled(field, seed):
    order = list(field)
    random.Random(seed).shuffle(order)
    return order


def leave_other_networks_out(record, field, say):
    """Who reports another number of parameters than Tandem trains another network."""
    found = {c.name: run["parameters"] for c in field for part in ("qualifying", "main")
             for run in record[part].get(c.name, []) if "parameters" in run}
    own = {found[c.name] for c in field if c.side == "tandem" and c.name in found}
    for name, parameters in found.items():
        if not own or parameters in own or name in record["failures"]:
            continue
        reason = f"trains {parameters} parameters, Tandem {min(own)}: not the same network"
        record["failures"][name] = {"reason": reason, "detail": ""}
        say(f"  {name}: failed: {reason}")


def qualified(field, record, margin):
    """Whoever is within the margin of the best of its side in its shape. Tandem's configurations all go on: each is
    compared with the peers of its own shape."""
    field = [contender for contender in field if contender.name not in record["failures"]]
    if not any(record["qualifying"].values()):
        return field
    rates = {c.name: statistics.median(run["images_per_s"] for run in record["qualifying"][c.name]) for c in field}
    best = {}
    for contender in field:
        kind = contender.side, contender.replicas
        best[kind] = max(best.get(kind, 0), rates[contender.name])
    return [c for c in field if c.side == "tandem" or rates[c.name] >= (1 - margin) * best[c.side, c.replicas]]
