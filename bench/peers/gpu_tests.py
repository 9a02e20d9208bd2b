"""The tests that repeat on a GPU, by GoogleTest's own lines: what came of each, and what is left to run."""
import json
import pathlib
import re

LINE = re.compile(r"\[ +(RUN|OK|SKIPPED|FAILED) +\] ([\w./]+)(?:,| \(|$)", re.MULTILINE)
FILTER = "--gtest_filter="
# The quick ones. Programs that have only suites named OnAGpu take part as they are, this one with the suites of cuDNN and
# of Tandem's own kernels. Kernels that run on a CPU alone are left to `tests`.
ON_A_GPU, OF_KERNELS = "OnAGpu.*", "test_kernels"
QUICK = ":".join(["*Cudnn*", "*NormAct*", "*Channel*", "*SgdUpdate*", "*AdamUpdate*", "*DeviceHyperparameters*",
                  "*Multibox*", "*CrossEntropy*", "*Normalize*", "*SumInto*", "*NonFinite*"])
SLOW = "NormActGradient*"


def listed(text):
    """What ctest knows of the tests with the label gpu: name, command, folder, environment and labels of each program."""
    return [described(test, {of["name"]: of["value"] for of in test["properties"]}) for test in json.loads(text)["tests"]]


def described(test, properties):
    return {"name": test["name"], "command": test["command"], "folder": properties["WORKING_DIRECTORY"],
            "variables": dict(line.split("=", 1) for line in properties.get("ENVIRONMENT", [])),
            "long": "long" in properties.get("LABELS", [])}


def filter_of(test):
    return next((part.removeprefix(FILTER) for part in test["command"] if part.startswith(FILTER)), "*")


def filtered(test, text):
    return [*(part for part in test["command"] if not part.startswith(FILTER)), FILTER + text]


def smoke(test):
    """The quick part of a test program; None: it has none."""
    if test["long"]:
        return None
    if filter_of(test) == ON_A_GPU:
        return test
    if pathlib.Path(test["command"][0]).name != OF_KERNELS or is_shard(test):
        return None
    given, _, without = filter_of(test).partition("-")
    if given not in ("", "*"):
        return None
    return test | {"command": filtered(test, f"{QUICK}-{':'.join(filter(None, [SLOW, without]))}")}


def results(text):
    """The last that was said of each test; RUN of one that did not end."""
    return {name: said for said, name in LINE.findall(text)}


def group(name):
    """A test, or all that differ in their parameters, as a filter names them."""
    return re.sub(r"(\.[^/]+)/.*", r"\1/*", name)


def groups(results, *said):
    """Of all tests, or of those of which this was said."""
    return list(dict.fromkeys(group(name) for name, what in results.items() if not said or what in said))


def done(entry):
    """The groups that a program need not run again. Where it was ended that is all but the one it was at, of which a
    next test may be missing. A group that made the program crash is not run again."""
    found = groups(entry["results"])
    if entry["exit code"] is None:
        found = [*found[:-1], *(name for name in groups(entry["results"], "CRASHED") if name not in found[:-1])]
    return found


def is_shard(test):
    return "GTEST_TOTAL_SHARDS" in test["variables"]


def rest(test, without):
    """The command without these groups. A shard is run anew as a whole: GoogleTest deals out what the filter leaves, so
    with another filter it would be another shard."""
    given = filter_of(test)
    if not without or is_shard(test):
        return test["command"]
    return filtered(test, given + (":" if "-" in given else "-") + ":".join(without))


def at(entry):
    """The test that did not end, if there is one."""
    return next((name for name, said in entry["results"].items() if said == "RUN"), None)


def failure(entry):
    """Why a program has not passed; None: it has, or is not done."""
    failed = [name for name, said in entry["results"].items() if said == "FAILED"]
    reasons = [f"failed: {', '.join(failed)}"] if failed else []
    reasons += [f"ended with exit code {code} in {name}" for name, code in entry["crashed"].items()]
    if not reasons and entry["exit code"]:
        reasons = [f"ended with exit code {entry['exit code']}"]
    if not reasons and entry["exit code"] == 0 and not entry["results"] and not entry["without"]:
        reasons = ["failed: it ran no test"]
    return ", ".join(reasons) or None


def verdict(entry):
    """In one line; who skipped itself has tested nothing and is named."""
    passed = sum(said == "OK" for said in entry["results"].values())
    stopped = f", at {at(entry)}" if at(entry) else ""
    text = failure(entry) or ("passed" if entry["exit code"] is not None else f"not done, {passed} passed{stopped}")
    skipped = [group(name) for name, said in entry["results"].items() if said == "SKIPPED"]
    named = [f"`{name}`" + (f" ({count})" if (count := skipped.count(name)) > 1 else "") for name in dict.fromkeys(skipped)]
    return text + (f", {len(skipped)} skipped: {', '.join(named)}" if skipped else "")
