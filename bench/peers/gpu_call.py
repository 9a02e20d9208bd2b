"""One call of scripts/gpu-check: what is at hand, what was found, and the time that is left."""
import os
import pathlib
import shutil
import subprocess
import sys

import contenders
import gpu
import gpu_program
from gpu_contenders import Tandem
from sections import Budget, Failed, OutOfTime, State

PAGE_S = 15   # of the budget are kept back, so that the page is always written
CARRIED = ("state.json", "measured.tsv", "records.jsonl", "tests.log")   # from a call to one on another machine


def say(text):
    print(text, file=sys.stderr, flush=True)


class Call:
    def __init__(self, options):
        self.options, self.budget = options, Budget(options.budget - PAGE_S)
        self.gpu = gpu.facts()
        options.state.mkdir(parents=True, exist_ok=True)
        if options.state_from:
            copy(CARRIED, options.state_from, options.state)
        self.program = gpu_program.of(options)
        self.tandem, self.records = self.program.tandem, options.state / "records.jsonl"
        key = self.program.key() | {"gpu": self.gpu["gpu"], "driver": self.gpu["driver"]}
        self.state = State(options.state / "state.json", key)
        if self.state.begun_anew and not options.fresh:
            say("what earlier calls found was of other sources, another bundle, GPU or driver: begun anew")
        if options.fresh or self.state.begun_anew:
            self.state.values = {"key": key}
            self.records.unlink(missing_ok=True)

    @property
    def python(self):
        return self.program.python

    @property
    def measured(self):
        """Tandem as it is measured: its kernels' times lie beside what was found."""
        return Tandem(self.tandem, self.records, self.options.state)

    def is_built(self):
        return self.state.section("build").get("done", False) and self.tandem.exists()

    def needs_build(self):
        if not self.is_built():
            raise OutOfTime("Tandem is not built or checked yet; `build` comes first")

    def log(self, name):
        return self.options.state / f"{name}.log"

    def code_of(self, log, command, folder=gpu_program.ROOT, budget=None, **variables):
        """Runs a step; what it writes goes to a log. Ended when the budget is."""
        budget = budget or self.budget
        with open(self.log(log), "a") as out:
            print(f"$ {' '.join(map(str, command))}", file=out, flush=True)
            process = subprocess.Popen([str(part) for part in command], stdout=out, stderr=subprocess.STDOUT, cwd=folder,
                                       env=os.environ | variables, stdin=subprocess.DEVNULL, start_new_session=True)
            try:
                code = process.wait(timeout=max(0.1, budget.left()))
            except subprocess.TimeoutExpired:
                raise OutOfTime(f"not done after {budget.seconds:.0f} s") from None
            finally:
                contenders.kill_group(process)
        return code

    def run(self, log, command, **variables):
        code = self.code_of(log, command, **variables)
        if code:
            name = pathlib.Path(command[0]).name
            raise Failed(f"{name} ended with exit code {code}; see {self.log(log)}")

    def hand_out(self):
        """Leaves with the page what the next call takes up, and the logs."""
        if self.options.out:
            copy([*CARRIED, "build.log"], self.options.state, self.options.out)


def copy(names, source, target):
    target.mkdir(parents=True, exist_ok=True)
    for name in names:
        if (source / name).exists() and source.resolve() != target.resolve():
            shutil.copyfile(source / name, target / name)
