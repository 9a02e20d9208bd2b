"""The section `compare` of scripts/gpu-check: Tandem and PyTorch, case by case."""
import gpu_contenders
import machine
import ratios
import rounds
from contenders import RunFailed, RunTimedOut
from gpu_call import say
from gpu_choosing import choose
from sections import BudgetedPlan, Failed, OutOfTime

QUALIFIERS, RUN_AT_MOST_S = 1, 400


def compare(call):
    """Tandem beside PyTorch."""
    call.needs_build()
    section = call.state.section("compare")
    if "modes" not in section:
        section["modes"] = gpu_contenders.modes(call.python)
    modes = chosen(call.options.modes, section["modes"])
    section["rounds"] = max(call.options.rounds, section.get("rounds", 0))
    left_out, failed = [], []
    for run in wanted(call.options.cases):
        result = measure(call, run, section, modes)
        if result["error"]:
            failed.append(f"{gpu_contenders.name_of(run)}: {result['error']}")
        elif result["unfinished"]:
            left_out.append(f"{gpu_contenders.name_of(run)}: {result['unfinished']}")
    if failed:
        raise Failed("; ".join(failed))
    if left_out:
        raise OutOfTime("; ".join(left_out))


def wanted(prefixes):
    return [run for run in gpu_contenders.runs() if gpu_contenders.case_name(run).startswith(tuple(prefixes))]


def chosen(names, known):
    if names == [gpu_contenders.ALL_MODES]:
        return known
    for name in names:
        if name not in known:
            raise Failed(f"--modes: unknown '{name}'; with this PyTorch valid: "
                         f"{', '.join([*known, gpu_contenders.ALL_MODES])}")
    return [name for name in known if name in names]


def begun(section, run, modes):
    """The record of a case. One without a mode that is now wanted is opened again: its main rounds, in which all take
    turns, begin anew."""
    record = section.setdefault("cases", {}).setdefault(
        gpu_contenders.name_of(run),
        {key: run[key] for key in ("model", "precision", "size", "classes", "batch", "lr", "warmup", "steps")}
        | {"error": None, "unfinished": "not begun", "seconds": {}, "steal percent": 0.0, "modes": modes})
    if not set(modes) <= set(record["modes"]):
        record["modes"] = [mode for mode in section["modes"] if mode in {*modes, *record["modes"]}]
        record["unfinished"] = "further modes of torch.compile"
        for part in ("main", "headline", "rows"):
            record.pop(part, None)
    return record


def measure(call, run, section, modes):
    """Goes on with a case, as far as the budget reaches."""
    record = begun(section, run, modes)
    if record["error"] or not record["unfinished"]:
        return record
    steal = machine.StealClock()
    try:
        play(call, run, record)
        record["unfinished"] = None
    except (OutOfTime, RunTimedOut) as reason:   # a later call may have what it needs: kernels that are chosen, time
        record["unfinished"] = str(reason)
    except RunFailed as failure:
        record |= {"error": str(failure), "detail": failure.detail}
    record["steal percent"] = max(record["steal percent"], steal.percent())
    call.state.save()
    return record


def play(call, run, record):
    field = gpu_contenders.contenders(run, call.measured, call.python, record["modes"])
    say(f"{gpu_contenders.name_of(run)}, {len(field)} contenders, {call.budget.left():.0f} s left")
    for part in ("qualifying", "main", "failures"):
        record.setdefault(part, {})
    record["commands"] = {}
    for precision in gpu_contenders.PRECISIONS[run["precision"]][0]:
        choose(call, run, precision)
    plan = BudgetedPlan(call.state, record["seconds"], call.budget, qualifiers=QUALIFIERS,
                        pairs=call.state.section("compare")["rounds"],
                        timeout=RUN_AT_MOST_S, margin=0)
    rounds.measure(record, field, plan, lambda text: say(f"  {text.strip()}"))
    record["headline"], record["rows"] = ratios.ratios(field, record["main"], record["failures"])
