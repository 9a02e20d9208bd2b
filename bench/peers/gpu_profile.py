"""The section `profile` of scripts/gpu-check: what the GPU does in a step of Tandem."""
import gpu_contenders
from contenders import RunFailed, RunTimedOut
from gpu_call import say
from gpu_choosing import choose
from gpu_compare import RUN_AT_MOST_S
from sections import Failed, OutOfTime


def profile(call):
    """The step taken apart."""
    call.needs_build()
    section, left_out = call.state.section("profile"), []
    for run, contender in gpu_contenders.profiles(call.measured):
        if contender.name in section:
            continue
        try:
            section[contender.name] = {"command": contender.text()} | take_apart(call, run, contender)
        except OutOfTime as reason:
            left_out.append(str(reason))
        call.state.save()
    failed = [f"{name}: {found['error']}" for name, found in section.items() if "error" in found]
    if failed:
        raise Failed("; ".join(failed))
    if left_out:
        raise OutOfTime("; ".join(left_out))


def take_apart(call, run, contender):
    """What a profile found, or why it has nothing."""
    try:
        choose(call, run, run["precision"])
        limit = min(RUN_AT_MOST_S, call.budget.spare(contender.start_s, contender.name))
        say(f"  {contender.name}, {call.budget.left():.0f} s left")
        return contender.run(limit)
    except RunTimedOut as reason:
        raise OutOfTime(f"{contender.name}: {reason}") from None
    except RunFailed as reason:
        return {"error": str(reason)}
