"""The sections of scripts/gpu-check that test: the quick tests first, the rest and the long ones last."""
import gpu_tests
from gpu_call import say
from sections import Failed

SMOKE_AT_MOST_S = 180   # of a call, so that a test that hangs leaves time to measure


def smoke(call):
    """Tests of each kind of kernel, cuDNN's engines and the step on the GPU."""
    quick = [found for test in listed(call) if (found := gpu_tests.smoke(test))]
    play(call, "smoke", quick, call.budget.part(SMOKE_AT_MOST_S))


def tests(call):
    """All but the long ones, without what `smoke` ran."""
    play(call, "tests", [test for test in listed(call) if not test["long"] and not was_smoke(call, test)],
         call.budget)


def long_tests(call):
    play(call, "long-tests", [test for test in listed(call) if test["long"]], call.budget)


def listed(call):
    call.needs_build()
    found = call.program.listed()
    if not found:
        raise Failed("there is no test with the label gpu")
    return found


def was_smoke(call, test):
    """Whether `smoke` has run all of it."""
    entry = call.state.section("smoke").get(test["name"])
    return gpu_tests.smoke(test) is test and entry is not None and entry["exit code"] is not None


def play(call, section, wanted, budget):
    found = call.state.section(section)
    for test in wanted:
        found.setdefault(test["name"], {"results": {}, "exit code": None, "seconds": 0.0, "crashed": {}, "without": []})
    left = [test for test in wanted if found[test["name"]]["exit code"] is None]
    if left:   # it sees the GPU
        call.run("tests", [call.tandem, "bench", "--model=resnet20", "--devices=cuda:0", "--dry-run"])
    for test in left:
        entry = found[test["name"]]
        entry["without"] = [] if section == "smoke" else of_smoke(call, test)
        try:
            finish(call, test, entry, budget)
        finally:
            call.state.save()
            say(f"  {section} {test['name']}: {gpu_tests.verdict(entry)}")
    wrong = [f"{name} {why}" for name, entry in found.items() if (why := gpu_tests.failure(entry))]
    if wrong:
        raise Failed(f"{'; '.join(wrong)}; see {call.log('tests')}")


def of_smoke(call, test):
    entry = call.state.section("smoke").get(test["name"])
    return gpu_tests.done(entry) if entry else []


def finish(call, test, entry, budget):
    """Runs what is left of a test program. One that crashes is started again behind the test that did it."""
    code, again = 0, True
    while again:
        code = go_on(call, test, entry, budget) or code
        crash = gpu_tests.at(entry)
        if code and crash:
            entry["crashed"][crash], entry["results"][crash] = code, "CRASHED"
        again = bool(code and crash) and not gpu_tests.is_shard(test)
    entry["exit code"] = code


def go_on(call, test, entry, budget):
    """What it has done when the budget ends it is kept."""
    log, left = call.log("tests"), budget.left()
    since = log.stat().st_size
    try:
        command = gpu_tests.rest(test, [*entry["without"], *gpu_tests.done(entry)])
        return call.code_of("tests", command, test["folder"], budget, **test["variables"])
    finally:
        entry["results"] |= gpu_tests.results(log.read_bytes()[since:].decode(errors="replace"))
        entry["seconds"] = round(entry["seconds"] + left - budget.left(), 1)
