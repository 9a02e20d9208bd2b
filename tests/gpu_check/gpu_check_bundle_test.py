#!/usr/bin/env python3
"""scripts/gpu-check with a bundle of programs that stand in for those of scripts/bundle, and what is carried from a call
to one on another machine. Usage: gpu_check_bundle_test.py [unittest arguments]"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import unittest
import unittest.mock

from stand_ins import HERE, StandIns, budget
import gpu_program

CASE = "--cases=resnet20:128:16"


class BundleTest(StandIns):
    def setUp(self):
        super().setUp()
        self.bundle = self.folder / "bundle"
        (self.bundle / "bin").mkdir(parents=True)
        (self.bundle / "lib").mkdir()
        (self.bundle / "lib/libtorch-version").write_text("2.11.0\n")
        for name in ("tandem", "bin/tandem", "launch", "test_device", "test_kernels", "test_run"):
            shutil.copy(HERE / "stand_in", self.bundle / name)
        listed = subprocess.run([self.bin / "ctest"], env=os.environ | {"STAND_IN_LOG": os.devnull, "STAND_IN_FOLDER": "/built"},
                                capture_output=True, text=True, check=True).stdout
        (self.bundle / "tests.json").write_text(listed)
        for name in ("nvcc", "cmake", "ctest", "test_device", "test_kernels", "test_run"):
            (self.bin / name).unlink()

    def bundled(self, *arguments, **variables):
        return self.check(f"--bundle={self.bundle}", *arguments, **variables)

    def test_nothing_is_built_and_the_tests_are_the_bundle_s(self):
        done = self.bundled(CASE, CUDACXX="/nowhere/nvcc")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.log("cmake") + self.log("ctest") + self.log("nvcc"), [])
        state = self.folder / "state"
        self.assertEqual(self.log("in ", "with x=device"), [f"in {state} with x=device, kernels' times in {state / 'tests'}"])
        self.assertEqual(set(self.log("libtorch of")), {f"libtorch of {self.bin / 'python'}"})
        self.assertEqual([line.split()[0] for line in self.log("test_")],
                         ["test_kernels", "test_run", "test_device", "test_kernels", "test_run"])
        self.assertIn("- bundle: ", self.page())
        self.assertNotIn("- nvcc: ", self.page())

    def test_the_python_that_runs_it_has_pytorch(self):
        options = argparse.Namespace(bundle=self.bundle, state=self.folder, python=None)
        with unittest.mock.patch.dict(os.environ):
            self.assertEqual(gpu_program.of(options).python, sys.executable)

    def expect_failure(self, done, text):
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(f"gpu-check: {text}", done.stderr)

    def test_what_a_bundle_lacks_is_named(self):
        self.expect_failure(self.bundled("build", STAND_IN_NO_LIBTORCH="1"),
                            f"build: {self.bundle / 'tandem'} --version ended with exit code 2: error[usage]: this bundle has "
                            "no libtorch\n")
        self.assertEqual(self.bundled("smoke").returncode, 75)
        self.expect_failure(self.bundled("build", STAND_IN_ENGINES="none"), "build: the program has no convolution engines")
        (self.bundle / "tests.json").unlink()
        self.assertEqual(self.bundled("build").returncode, 0)
        for section in ("smoke", "tests", "long-tests"):
            self.expect_failure(self.bundled(section), f"{section}: {self.bundle} has no tests.json: make the bundle with "
                                                       "--tests\n")
        self.expect_failure(self.bundled("compare", CASE, STAND_IN_NO_TORCH="1"),
                            "compare: python ended with exit code 1: no module torch\n")

    def carried(self, number, *arguments, **variables):
        """A call on a fresh machine, which has what the one before it left."""
        before = [f"--state-from={self.folder / f'out{number - 1}'}"] if number else []
        return self.bundled(f"--state={self.folder / f'state{number}'}", f"--out={self.folder / f'out{number}'}", *before,
                            *arguments, **variables)

    def test_what_was_found_is_carried_from_machine_to_machine(self):
        first = self.carried(0, CASE, budget(30))   # too short for a compiled peer
        self.assertEqual(first.returncode, 75, first.stderr)
        names = sorted(path.name for path in (self.folder / "out0").iterdir())
        self.assertLessEqual(len(names), 8)
        for name in ("measured.tsv", "records.jsonl", "state.json", "tests.log"):
            self.assertIn(name, names)
        self.assertEqual(len([name for name in names if "-gpu-" in name]), 3, names)
        tests, chosen = len(self.log("test_")), len(self.log("--warmup=1 "))

        second = self.carried(1, CASE)
        self.assertEqual(second.returncode, 0, second.stderr)
        self.assertEqual(len(self.log("test_")), tests)
        self.assertEqual(len(self.log("--warmup=1 ", "--model=resnet20 ")), 2)
        self.assertGreaterEqual(len(self.log("--warmup=1 ")), chosen)
        self.assertEqual(len((self.folder / "out1/measured.tsv").read_text().splitlines()), len(self.log("--warmup=1 ")))
        kept = json.loads((self.folder / "out1/state.json").read_text())
        self.assertEqual(len(kept["compare"]["cases"]["resnet20 b128 16-bit"]["qualifying"]["tandem bf16"]), 1)
        self.assertEqual(len(self.log("--steps=500", "--precision=bf16")), 1 + 5)
        self.assertLessEqual(len(list((self.folder / "out1").iterdir())), 8)

    def test_what_was_found_holds_for_one_bundle(self):
        self.assertEqual(self.carried(0, "build", "smoke").returncode, 0)
        with open(self.bundle / "bin/tandem", "a") as program:
            program.write("# another\n")
        done = self.carried(1, "smoke")
        self.assertEqual(done.returncode, 75, done.stderr)
        self.assertIn("another bundle", done.stderr)

    def test_a_program_that_is_gone_is_not_taken_for_built(self):
        self.assertEqual(self.bundled("build").returncode, 0)
        (self.bundle / "tandem").unlink()
        self.assertEqual(self.bundled("smoke").returncode, 75)


unittest.main()
