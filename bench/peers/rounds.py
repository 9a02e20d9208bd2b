"""A case, one model in one precision: a qualifying round of all contenders, then the main rounds of the fastest."""
import statistics

from contenders import RunFailed

MARGIN = 0.15


def measure(record, field, options, say):
    """Fills the record of the case; raises RunFailed when Tandem itself fails."""
    record |= {"commands": {c.name: c.text() for c in field}, "qualifying": {}, "main": {}, "failures": {}}
    play(record, "qualifying", field, options.qualifiers, options.timeout, say)
    play(record, "main", qualified(field, record), options.pairs, options.timeout, say)


def play(record, part, field, rounds, timeout, say):
    """Each round runs every contender once, one after the other, so that a slow phase of the machine hits all alike."""
    runs = record[part] = {contender.name: [] for contender in field}
    for turn in range(rounds):
        for contender in field:
            if contender.name in record["failures"]:
                continue
            try:
                result = checked(contender.run(timeout), record)
            except RunFailed as failure:
                if contender.side == "tandem":
                    raise RunFailed(f"{contender.name}: {failure}", failure.detail) from None
                record["failures"][contender.name] = {"reason": str(failure), "detail": failure.detail}
                say(f"  {contender.name}: failed: {failure}")
                continue
            runs[contender.name].append(result)
            say(f"  {part} {turn + 1}/{rounds}  {contender.name:44} {result['images_per_s']:9.2f} images/s")


def checked(result, record):
    """Tandem runs first; who reports another number of parameters trains another network."""
    if "parameters" in result and result["parameters"] != record.setdefault("parameters", result["parameters"]):
        raise RunFailed(f"trains {result['parameters']} parameters, Tandem {record['parameters']}: not the same network")
    return result


def qualified(field, record):
    """Whoever is within the margin of the best of its side. Tandem's configurations all go on: each is compared with the
    peers of its own shape."""
    field = [contender for contender in field if contender.name not in record["failures"]]
    if not any(record["qualifying"].values()):
        return field
    rates = {c.name: statistics.median(run["images_per_s"] for run in record["qualifying"][c.name]) for c in field}
    best = {}
    for contender in field:
        best[contender.side] = max(best.get(contender.side, 0), rates[contender.name])
    return [c for c in field if c.side == "tandem" or rates[c.name] >= (1 - MARGIN) * best[c.side]]
