"""A long check in parts: what each has found is kept on disk, and the time of a call is limited."""
import hashlib
import json
import os
import time

import rounds
from contenders import RunTimedOut


class OutOfTime(Exception):
    """What was left out of this call, and why."""


class Failed(Exception):
    """What failed, in one line."""


class Budget:
    """The wall-clock time of a call."""

    def __init__(self, seconds, clock=time.monotonic):
        self.seconds, self.clock = seconds, clock
        self.end = clock() + seconds

    def left(self):
        return self.end - self.clock()

    def part(self, seconds):
        """At most so many seconds of what is left."""
        return Budget(max(0, min(seconds, self.left())), self.clock)

    def spare(self, seconds, what):
        """What is left, if `seconds` are."""
        if seconds > self.left():
            raise OutOfTime(f"{what} takes about {seconds:.0f} s, and {max(0, self.left()):.0f} of {self.seconds:.0f} s "
                            "are left")
        return self.left()


class State:
    """What earlier calls found, as JSON. It holds for one `key` (sources, GPU): with another it begins anew."""

    def __init__(self, path, key):
        self.path, self.values = path, {"key": key}
        if path.exists() and (kept := json.loads(path.read_text())).get("key") == key:
            self.values = kept
        self.begun_anew = path.exists() and self.values.keys() == {"key"}

    def section(self, name):
        return self.values.setdefault(name, {})

    def save(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps(self.values, indent=1) + "\n")
        os.replace(new, self.path)


class BudgetedPlan(rounds.Plan):
    """Rounds that end where the next run would not fit the budget. What a run takes is what the one before it took."""

    def __init__(self, state, seconds, budget, **plan):
        super().__init__(**plan)
        self.state, self.seconds, self.budget = state, seconds, budget

    def seconds_for(self, contender):
        return min(self.timeout, self.budget.spare(self.seconds.get(contender.name, contender.start_s), contender.name))

    def took(self, contender, seconds, failure):
        # Ended by the budget: no verdict on the contender, unless it had the whole of it.
        late = isinstance(failure, RunTimedOut)
        cut = late and self.budget.left() <= 0
        if not late:
            self.seconds[contender.name] = seconds
        self.state.save()
        if cut and seconds < 0.8 * self.budget.seconds:
            raise OutOfTime(f"{contender.name} was not done after {seconds:.0f} s, when the budget was spent")


def fingerprint(root, parts):
    """Of the contents of files and folders below `root`."""
    digest = hashlib.sha256()
    for part in parts:
        found = [root / part] if (root / part).is_file() else sorted((root / part).rglob("*"))
        for path in found:
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes())
    return digest.hexdigest()
