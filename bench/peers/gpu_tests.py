"""The tests that repeat on a GPU, by GoogleTest's own lines: what came of each, and what is left to run."""
import json
import re

import machine

LINE = re.compile(r"\[ +(RUN|OK|SKIPPED|FAILED) +\] ([\w./]+)(?:,| \(|$)", re.MULTILINE)
FILTER = "--gtest_filter="


def listed(build):
    """What ctest knows of the tests with the label gpu: name, command, folder and environment of each program."""
    tests = json.loads(machine.output("ctest", "--test-dir", build, "-L", "gpu", "--show-only=json-v1"))["tests"]
    return [described(test, {of["name"]: of["value"] for of in test["properties"]}) for test in tests]


def described(test, properties):
    return {"name": test["name"], "command": test["command"], "folder": properties["WORKING_DIRECTORY"],
            "variables": dict(line.split("=", 1) for line in properties.get("ENVIRONMENT", []))}


def results(text):
    """The last that was said of each test; RUN of one that did not end."""
    return {name: said for said, name in LINE.findall(text)}


def group(name):
    """A test, or all that differ in their parameters, as a filter names them."""
    return re.sub(r"(\.[^/]+)/.*", r"\1/*", name)


def rest(test, found):
    """The command without the groups that a program had done when it was ended: all but the one it was at. A shard is run
    anew as a whole: GoogleTest deals out what the filter leaves, so with another filter it would be another shard."""
    command, groups = test["command"], list(dict.fromkeys(map(group, found)))[:-1]
    if not groups or "GTEST_TOTAL_SHARDS" in test["variables"]:
        return command
    given = next((part.removeprefix(FILTER) for part in command if part.startswith(FILTER)), "*")
    left = given + (":" if "-" in given else "-") + ":".join(groups)
    return [*(part for part in command if not part.startswith(FILTER)), FILTER + left]


def failure(entry):
    """Why a program has not passed; None: it has, or is not done."""
    failed = [name for name, said in entry["results"].items() if said == "FAILED"]
    if failed:
        return f"failed: {', '.join(failed)}"
    if entry["exit code"] is None:
        return None
    if entry["exit code"]:
        at = [name for name, said in entry["results"].items() if said == "RUN"]
        return f"ended with exit code {entry['exit code']}" + "".join(f" in {name}" for name in at)
    return None if entry["results"] else "failed: it ran no test"


def verdict(entry):
    """In one line; who skipped itself has tested nothing and is named."""
    passed = sum(said == "OK" for said in entry["results"].values())
    text = failure(entry) or ("passed" if entry["exit code"] is not None else f"not done, {passed} passed")
    groups = [group(name) for name, said in entry["results"].items() if said == "SKIPPED"]
    named = [f"`{name}`" + (f" ({count})" if (count := groups.count(name)) > 1 else "") for name in dict.fromkeys(groups)]
    return text + (f", {len(groups)} skipped: {', '.join(named)}" if groups else "")
