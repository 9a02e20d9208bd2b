"""Tandem's kernels are chosen before its runs are measured, in runs of their own."""
import time

import gpu_contenders
from contenders import RunFailed, RunTimedOut
from gpu_call import say
from sections import OutOfTime


def choose(call, run, precision):
    """Goes on with the choice for a network, as far as the budget reaches. What was timed counts in the next call."""
    contender = gpu_contenders.choosing(run, call.measured, precision)
    found = call.state.section("kernels").setdefault(contender.name, {"command": contender.text(), "seconds": 0.0,
                                                                      "done": False})
    if found["done"]:
        return
    limit, start = call.budget.spare(contender.start_s, contender.name), time.monotonic()
    say(f"  choosing the {contender.name}, {limit:.0f} s left")
    try:
        contender.run(limit)
        found["done"] = True
    except RunTimedOut:
        raise OutOfTime(f"{contender.name}: not all are chosen when the budget is spent; the next call goes on") from None
    except RunFailed as failure:
        raise RunFailed(f"{contender.name}: {failure}", failure.detail) from None
    finally:
        found["seconds"] = round(found["seconds"] + time.monotonic() - start, 1)
        call.state.save()


def told(state):
    """For the page."""
    found = [f"{name.removeprefix('kernels of ')} {entry['seconds']:.0f} s" + ("" if entry["done"] else " (not done)")
             for name, entry in state.section("kernels").items()]
    return f"Tandem's kernels were chosen in runs of their own, before: {', '.join(found)}." if found else \
        "Tandem's kernels were not chosen yet."
