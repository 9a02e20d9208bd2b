#!/usr/bin/env python3
"""The parts of scripts/gpu-check: GPUs, budgets, states, filters of tests. Usage: gpu_check_parts_test.py [unittest arguments]"""
import fnmatch
import os
import pathlib
import re
import tempfile
import types
import unittest
import unittest.mock

import stand_ins  # says where the parts are
import gpu
import gpu_test_sections
import gpu_tests
from contenders import RunFailed, RunTimedOut
from sections import Budget, BudgetedPlan, OutOfTime, State, fingerprint


class GpuTest(unittest.TestCase):
    ROWS = [["0", "GPU-aa11", "first"], ["1", "GPU-bb22", "second"]]

    def test_cuda_0_is_found_among_all_gpus(self):
        for visible, name in (("0", "first"), ("1,0", "second"), ("GPU-bb", "second"), (None, "first")):
            with unittest.mock.patch.dict(os.environ, {"CUDA_VISIBLE_DEVICES": visible or ""}):
                if visible is None:
                    del os.environ["CUDA_VISIBLE_DEVICES"]
                self.assertEqual(gpu.first(self.ROWS), [name])
        with unittest.mock.patch.dict(os.environ, {"CUDA_VISIBLE_DEVICES": "7"}):
            with self.assertRaisesRegex(gpu.Unusable, "CUDA_VISIBLE_DEVICES=7: nvidia-smi lists no such GPU"):
                gpu.first(self.ROWS)

    def test_a_compiler_is_not_needed(self):
        with unittest.mock.patch.object(gpu, "compiler", lambda: "/nowhere/nvcc"):
            self.assertEqual(gpu.compiler_version(), "none here")


class TestsTest(unittest.TestCase):
    WHOLE = {"command": ["test_x", "--gtest_filter=*Zoo*"], "variables": {}, "long": False}

    def test_a_shard_is_run_anew_as_a_whole(self):
        shard = self.WHOLE | {"variables": {"GTEST_TOTAL_SHARDS": "8", "GTEST_SHARD_INDEX": "3"}}
        found = gpu_tests.done({"results": {"Zoo.Trains/a": "OK", "Zoo.Learns/a": "RUN"}, "exit code": None})
        self.assertEqual(gpu_tests.rest(self.WHOLE, found), ["test_x", "--gtest_filter=*Zoo*-Zoo.Trains/*"])
        self.assertEqual(gpu_tests.rest(shard, found), shard["command"])

    def test_what_is_done_need_not_run_again(self):
        results = {"A.a": "OK", "B.a/1": "CRASHED", "C.a": "OK", "D.a/1": "OK"}
        self.assertEqual(gpu_tests.done({"results": results, "exit code": None}), ["A.a", "B.a/*", "C.a"])
        self.assertEqual(gpu_tests.done({"results": results, "exit code": 0}), ["A.a", "B.a/*", "C.a", "D.a/*"])
        last = {"A.a": "OK", "B.a/1": "CRASHED"}
        self.assertEqual(gpu_tests.done({"results": last, "exit code": None}), ["A.a", "B.a/*"])

    def test_the_quick_tests_are_a_part_of_what_their_program_runs(self):
        def quick(program, text, **more):
            test = self.WHOLE | {"command": [f"/b/test_{program}", f"--gtest_filter={text}"]} | more
            found = gpu_tests.smoke(test)
            return found and found["command"][1].removeprefix("--gtest_filter=")

        self.assertEqual(quick("run", "OnAGpu.*"), "OnAGpu.*")
        self.assertRegex(quick("kernels", "-Long*:x*"), r"^\*Cudnn\*:.*\*NormAct\*.*-NormActGradient\*:Long\*:x\*$")
        self.assertEqual(quick("kernels", "-Long*", long=True), None)
        self.assertEqual(quick("executor", "-Long*"), None)
        self.assertEqual(quick("kernels", "*Zoo*-Long*"), None)

    def test_quick_tests_leave_time_to_measure(self):
        budget = Budget(1000, Clock())
        call = types.SimpleNamespace(budget=budget, needs_build=lambda: None, state=None,
                                     program=types.SimpleNamespace(listed=lambda: [self.WHOLE]))
        with unittest.mock.patch.object(gpu_test_sections, "play") as play:
            gpu_test_sections.smoke(call)
        self.assertEqual(play.call_args.args[3].left(), 180)

    def test_the_quick_suites_are_there(self):
        sources = "".join(path.read_text() for path in (stand_ins.ROOT / "tests/kernels").rglob("*_test.cpp"))
        suites = set(re.findall(r"^TEST(?:_[PF])?\((\w+),", sources, re.M))
        for pattern in [*gpu_tests.QUICK.split(":"), gpu_tests.SLOW]:
            self.assertTrue(fnmatch.filter(suites, pattern), pattern)


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


class Contender:
    name, start_s = "a", 40


class SectionsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.clock = Clock()
        self.budget = Budget(100, self.clock)
        self.plan = BudgetedPlan(State(self.folder / "state.json", "k"), {}, self.budget, qualifiers=1, pairs=5, timeout=70)

    def after(self, seconds, failure=None):
        self.clock.now += seconds
        self.plan.took(Contender, seconds, failure)

    def test_a_run_gets_what_is_left_and_is_expected_to_take_what_it_took(self):
        self.assertEqual(self.plan.seconds_for(Contender), 70)
        self.after(35)
        self.assertEqual(self.plan.seconds_for(Contender), 65)
        self.after(33)
        with self.assertRaisesRegex(OutOfTime, "a takes about 33 s, and 32 of 100 s are left"):
            self.plan.seconds_for(Contender)

    def test_a_run_that_the_budget_cut_is_no_verdict_unless_it_had_all_of_it(self):
        self.after(35)
        with self.assertRaisesRegex(OutOfTime, "not done after 65 s"):
            self.after(65, RunTimedOut("late"))
        self.assertEqual(self.plan.seconds, {"a": 35})

        self.clock.now, self.budget.end = 0, 100
        self.after(100, RunTimedOut("late"))
        self.budget.end = 1000
        self.after(70, RunTimedOut("its own limit"))
        self.budget.end = self.clock.now + 2
        self.after(2, RunFailed("broken"))

    def test_a_part_of_a_budget_is_no_more_than_what_is_left(self):
        self.clock.now = 90
        self.assertEqual(self.budget.part(30).left(), 10)
        part = self.budget.part(4)
        self.clock.now += 5
        self.assertLess(part.left(), 0)
        self.assertGreater(self.budget.left(), 0)

    def test_state_is_read_again_for_its_key_alone(self):
        state = State(self.folder / "s/state.json", {"gpu": "x"})
        state.section("tests")["kernels"] = "passed"
        state.save()
        self.assertEqual(State(state.path, {"gpu": "x"}).section("tests"), {"kernels": "passed"})
        self.assertFalse(State(state.path, {"gpu": "x"}).begun_anew)
        self.assertEqual(State(state.path, {"gpu": "y"}).section("tests"), {})
        self.assertTrue(State(state.path, {"gpu": "y"}).begun_anew)

    def test_a_fingerprint_tells_contents_and_names_apart(self):
        (self.folder / "src").mkdir()
        seen = {fingerprint(self.folder, ["src"])}
        for name, text in (("a", "1"), ("a", "2"), ("b", "2")):
            (self.folder / "src" / name).write_text(text)
            seen.add(fingerprint(self.folder, ["src"]))
            (self.folder / "src" / name).unlink()
        self.assertEqual(len(seen), 4)


unittest.main()
