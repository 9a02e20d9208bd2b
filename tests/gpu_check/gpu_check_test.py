#!/usr/bin/env python3
"""scripts/gpu-check with programs that stand in for the GPU's: what runs in which order, what a page says, what a second
call goes on with. Usage: gpu_check_test.py [unittest arguments]"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "bench/peers"))

import gpu  # noqa: E402
import gpu_tests  # noqa: E402
from contenders import RunFailed, RunTimedOut  # noqa: E402
from sections import Budget, BudgetedPlan, OutOfTime, State, fingerprint  # noqa: E402

NAMES = ("nvidia-smi", "nvcc", "cmake", "ctest", "python", "test_device", "test_kernels")
CASES, ROUNDS, PROFILES, MODES = 12, 5, 2, 6
PAGE = "*-gpu-nvidia-h100-80gb-hbm3"


class GpuCheckTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        for name in NAMES:
            shutil.copy(HERE / "stand_in", self.bin / name)
        # A setup for CUDA with nothing to do: libraries that are the user's own.
        for file in ("libtorch/lib/libtorch_cuda.so", "libtorch/include/ATen/ATen.h", "frontend/include/cudnn_frontend.h"):
            (self.folder / file).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / file).touch()

    def check(self, *arguments, path=None, **variables):
        given = os.environ | {"PATH": path or f"{self.bin}:{os.environ['PATH']}", "STAND_IN_LOG": str(self.folder / "log"),
                              "CUDACXX": str(self.bin / "nvcc"), "TANDEM_ONEDNN": "OFF",
                              "TANDEM_CUDNN_FRONTEND": str(self.folder / "frontend"), "CUDA_VISIBLE_DEVICES": "0",
                              "STAND_IN_LIBTORCH": str(self.folder / "libtorch")} | variables
        return subprocess.run([sys.executable, ROOT / "scripts/gpu-check", *arguments, f"--python={self.bin / 'python'}",
                               f"--build={self.folder / 'build'}", f"--state={self.folder / 'state'}",
                               f"--out={self.folder / 'out'}"], env=given, capture_output=True, text=True)

    def log(self, *parts, without=None):
        """The calls whose line has all of the parts."""
        lines = (self.folder / "log").read_text().splitlines() if (self.folder / "log").exists() else []
        return [line for line in lines if all(part in line for part in parts) and not (without and without in line)]

    def page(self, ending="md"):
        found = list((self.folder / "out").glob(f"{PAGE}.{ending}"))
        self.assertEqual(len(found), 1, found)
        return found[0].read_text()

    def expect_line(self, done, code, *parts):
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)

    def test_one_line_where_nothing_can_be_measured(self):
        (self.bin / "nvidia-smi").unlink()
        self.expect_line(self.check(path=str(self.bin)), 2, "no NVIDIA driver here", "nvidia-smi")
        shutil.copy(HERE / "stand_in", self.bin / "nvidia-smi")
        self.expect_line(self.check(STAND_IN_BROKEN_DRIVER="1"), 2, "NVIDIA-SMI has failed: no driver")
        self.expect_line(self.check(STAND_IN_CAPABILITY="7.5"), 2, "7.5", "8.0 or more")
        self.expect_line(self.check("compair"), 2, "'compair'", "build, tests, compare, profile, page")
        self.expect_line(self.check("--budget=0"), 2, "--budget=0", "more than 0")
        self.assertFalse(self.log("cmake"))

    def test_everything_in_order_and_a_page_of_what_was_found(self):
        done = self.check()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("-DCMAKE_CUDA_ARCHITECTURES=90-real", self.log("cmake --preset cuda")[0])
        self.assertIn("--target tandem gpu_tests", self.log("cmake --build")[0])
        self.assertIn(f"-DCMAKE_CUDA_COMPILER={self.bin / 'nvcc'}", self.log("cmake --preset cuda")[0])
        self.assertEqual(self.log("test_"), ["test_device --gtest_filter=-Long*", "test_kernels --gtest_filter=-Long*"])
        self.assertEqual(self.log("with"), [f"in {self.bin} with x=device", f"in {self.bin} with x=kernels"])

        runs = self.log("--model=resnet50", "--batch=256", without="--profile")
        runs = [line for line in runs if re.search("=(bf16|fp16|autocast)", line)]
        kinds = ["tandem" if line.startswith("tandem") else line.split("--mode=")[1].split()[0] for line in runs]
        qualifying = 2 + 2 * MODES
        self.assertEqual(kinds[:qualifying], ["tandem"] * 2 + [mode for mode in (
            "eager", "compile", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune") for _ in range(2)])
        rounds = [kinds[i:i + 4] for i in range(qualifying, len(kinds), 4)]
        self.assertEqual([sorted(kinds) for kinds in rounds], [["eager", "max-autotune", "tandem", "tandem"]] * ROUNDS)
        self.assertTrue(all("--precision=autocast-fp16" in line for line in runs[qualifying:]
                            if line.startswith("python")))

        # Tandem's rate is 10 * (100 + its n-th run) images/s, in bf16 and tf32 100 more; main rounds are runs 2 to 6.
        page = self.page()
        self.assertIn("| resnet50 | 256 | 16-bit | 1140.0 (bf16) | 800.0 (pytorch autocast-fp16 max-autotune) | "
                      "**1.425** (", page)
        self.assertIn("| resnet50 | 256 | 16-bit | tandem bf16 | 1140.0 | pytorch autocast-fp16 eager | 600.0 | 1.900 | ",
                      page)
        self.assertIn("Tandem beside PyTorch on one NVIDIA H100 80GB HBM3", page)
        self.assertIn("the better of Tandem's bf16 and fp16", page)
        self.assertIn("- test `kernels`: passed, 2 skipped: `Shapes/Sum.Adds/*`, `CudnnNorm.IsRight` (", page)
        self.assertIn("Tandem's step as a CUDA graph: on (all runs).", page)
        for row in ("| resnet50 b256 16-bit | over PyTorch eager | at least 1.6 | 1.900 | reached |",
                    "| resnet50 b256 16-bit | over the best mode of torch.compile | at least 1.2 | 1.425 | reached |",
                    "| resnet50 b256 16-bit | Tandem | at least 6000 images/s | 1140.0 images/s | **not reached** |",
                    "| resnet50 b256 32-bit | Tandem in tf32 | at least 2700 images/s | 1140.0 images/s | **not reached** |",
                    "| resnet20 b128 16-bit | over PyTorch eager | at least 3 | 1.900 | **not reached** |",
                    "| vgg16 b128 16-bit | over the best peer | more than 1 | 1.425 | reached |",
                    "| resnet50 b256 bf16 | the GPU idle, the step a CUDA graph | less than 2 % | 1.250 % | reached |"):
            self.assertIn(row, page)
        self.assertNotIn("not measured", page)
        self.assertNotIn("Left out", page)
        results = json.loads(self.page("json"))["results"]
        self.assertEqual(len(results), CASES)
        self.assertTrue(all(len(runs) == ROUNDS for result in results for runs in result["main"].values()))
        self.assertEqual(len(self.page("jsonl").splitlines()), 2 * CASES * (1 + ROUNDS) + PROFILES)

    def prepare_page(self):
        """What a page needs: a comparison, here without runs, which do not fit the budget."""
        self.assertEqual(self.check("build").returncode, 0)
        self.assertEqual(self.check("compare", "--budget=1").returncode, 75)
        self.assertEqual(self.log("tandem bench"), [])

    def test_a_build_without_cudnns_engines_is_refused(self):
        done = self.check("build", STAND_IN_ENGINES="none")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("gpu-check: build: the program has no convolution engines", done.stderr)
        self.assertEqual(self.check("tests").returncode, 75)
        (self.folder / "frontend/include/cudnn_frontend.h").unlink()
        self.assertIn("build: setup ended with exit code 2", self.check("build").stderr)

    def test_what_was_not_a_graph_is_said(self):
        self.assertEqual(self.check("build").returncode, 0)
        # 40 s hold Tandem's qualifying runs, but no run of a compiled peer.
        self.assertEqual(self.check("compare", "page", "--budget=40", STAND_IN_UNGRAPHED="resnet20").returncode, 75)
        self.assertRegex(self.page(), r"as a CUDA graph: on \(resnet50 b256 tandem bf16, .*\); off: a stand-in "
                                      r"\(resnet20 b128 tandem bf16, [^,]* fp16, [^,]* fp32, [^,]* tf32\)\.\n")

    def test_tests_go_on_where_the_budget_ended(self):
        self.assertEqual(self.check("build").returncode, 0)
        first = self.check("tests", "--budget=4", STAND_IN_SLOW_TEST="test_kernels")
        self.assertEqual(first.returncode, 75, first.stderr)
        self.assertIn("test kernels: not done, 1 passed, 2 skipped", first.stderr)
        second = self.check("tests", STAND_IN_CRASHING_TEST="test_kernels")
        self.assertEqual(len(self.log("test_device")), 1)
        self.assertEqual(self.log("test_kernels")[1:],
                         ["test_kernels --gtest_filter=-Long*:Shapes/Sum.Adds/*:CudnnNorm.IsRight"])
        self.assertIn("gpu-check: tests: kernels ended with exit code 3 in Sum.Adds; see", second.stderr)

    def test_a_shard_is_run_anew_as_a_whole(self):
        found = {"Zoo.Trains/a": "OK", "Zoo.Learns/a": "RUN"}
        whole = {"command": ["test_x", "--gtest_filter=*Zoo*"], "variables": {}}
        shard = whole | {"variables": {"GTEST_TOTAL_SHARDS": "8", "GTEST_SHARD_INDEX": "3"}}
        self.assertEqual(gpu_tests.rest(whole, found), ["test_x", "--gtest_filter=*Zoo*-Zoo.Trains/*"])
        self.assertEqual(gpu_tests.rest(shard, found), shard["command"])

    def profiled(self):
        return [line.split()[2].removeprefix("--model=") for line in self.log("tandem bench", "--profile")]

    def test_the_tables_of_the_device_s_step_are_on_the_page(self):
        self.prepare_page()
        done = self.check("profile", "page")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.profiled(), ["resnet50", "resnet20"])
        for model, batch in (("resnet50", 256), ("resnet20", 128)):
            found = re.search(rf"^## What the GPU does in a step of Tandem: {model} b{batch} bf16\n\n`(.*)`\n\n"
                              r"The step as a CUDA graph: on.\n\n```\n([^`]*)```\n", self.page(), re.MULTILINE)
            self.assertTrue(found, self.page())
            for part in ("tandem bench", f"--batch={batch} ", "--devices=cuda:0", "--precision=bf16", "--input=device",
                         "--cuda-graph=on --profile"):
                self.assertIn(part, found[1])
            self.assertEqual(found[2], f"Kernels of a step: row 1\nconv  {model}\n"
                             "note: cuda:0: 3 steps of 9.000 ms, idle 1.25 %\n\n"
                             "Operations of a step: row 1\n\nGaps of a step: row 1\n")
        records = [json.loads(line) for line in self.page("jsonl").splitlines()]
        self.assertEqual([record["profile"]["device"] for record in records], [
            {"missing": "", "devices": [{"wall_ns": 27000000, "busy_ns": 26662500}]}] * PROFILES)

    def test_a_failing_profile_is_told_and_the_page_says_why(self):
        self.prepare_page()
        done = self.check("profile", "page", STAND_IN_FAILING_PROFILE="resnet50")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("gpu-check: profile: resnet50 b256 bf16: exit 70: error[cuda]: out of memory\n", done.stderr)
        self.assertRegex(self.page(), r"step of Tandem: resnet50 b256 bf16\n\n`.*`\n\nfailed: exit 70: error\[cuda\]: out")
        self.assertIn("conv  resnet20", self.page())

        self.assertEqual(self.check("profile").returncode, 1)
        self.assertEqual(len(self.profiled()), PROFILES)
        done = self.check("build", "profile", "--fresh", STAND_IN_NO_TRACER="no libcupti")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("resnet20 b128 bf16: what the GPU did is not known: no libcupti\n", done.stderr)

    def test_a_second_call_takes_apart_what_the_budget_left_out(self):
        self.prepare_page()
        # 15 s hold the profile of ResNet-20 alone.
        first = self.check("profile", "page", "--budget=15")
        self.assertEqual(first.returncode, 75, first.stderr)
        self.assertIn("left out: profile: resnet50 b256 bf16 takes about 16 s", first.stderr)
        self.assertEqual(self.profiled(), ["resnet20"])
        self.assertIn("- profile: resnet50 b256 bf16 takes about 16 s", self.page())
        self.assertNotIn("conv  resnet50", self.page())
        self.assertIn("less than 2 % | not begun | not measured |", self.page())

        second = self.check("profile", "page")
        self.assertEqual(second.returncode, 0, second.stderr)
        self.assertEqual(self.profiled(), ["resnet20", "resnet50"])
        self.assertNotIn("- profile: ", self.page())
        self.assertIn("conv  resnet50", self.page())

    def test_a_page_without_a_profile(self):
        self.prepare_page()
        self.assertEqual(self.check("profile", "--budget=1").returncode, 75)
        done = self.check("page")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("- profile: resnet50 b256 bf16 takes about 16 s", self.page())
        self.assertNotIn("What the GPU does", self.page())
        self.assertFalse(self.log("--profile"))

    def test_a_second_call_goes_on_where_the_budget_ended(self):
        # 100 s hold no first run of a mode that tries many kernels, which is thought to take 150 s.
        first = self.check("--budget=100")
        self.assertEqual(first.returncode, 75, first.stderr)
        self.assertIn("left out: compare: resnet50 b256 16-bit: pytorch autocast max-autotune-no-cudagraphs takes about",
                      first.stderr)
        self.assertIn("Left out, because the time was spent", self.page())
        self.assertIn("| resnet50 | 256 | 16-bit | unfinished: ", self.page())
        self.assertFalse(self.log("--mode=max-autotune"))
        before = len(self.log("tandem bench", "--model=resnet50", "--batch=256", "bf16", without="--profile"))
        self.assertEqual(before, 1)

        second = self.check()
        self.assertEqual(second.returncode, 0, second.stderr)
        self.assertEqual(len(self.log("tandem bench", "--model=resnet50", "--batch=256", "bf16", without="--profile")),
                         1 + ROUNDS)
        self.assertEqual(len(self.log("test_kernels")), 1)
        self.assertNotIn("Left out", self.page())
        self.assertNotIn("unfinished", self.page())

    def test_found_things_hold_for_one_gpu_and_one_tree(self):
        self.assertEqual(self.check("build", "tests").returncode, 0)
        state = self.folder / "state/state.json"
        kept = json.loads(state.read_text())
        kept["key"]["driver"] = "another"
        state.write_text(json.dumps(kept))
        self.assertEqual(self.check("tests").returncode, 75)
        self.assertEqual(len(self.log("test_kernels")), 1)
        for _ in range(2):
            self.assertEqual(self.check("build", "tests").returncode, 0)
        self.assertEqual(len(self.log("test_kernels")), 2)
        self.assertEqual(self.check("build", "tests", "--fresh").returncode, 0)
        self.assertEqual(len(self.log("test_kernels")), 3)

    def test_failures_are_told_and_the_rest_goes_on(self):
        done = self.check(STAND_IN_FAILING_TEST="test_kernels", STAND_IN_FAILING_MODEL="vgg16",
                          STAND_IN_FAILING_MODE="reduce-overhead")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("gpu-check: tests: kernels failed: Sum.Adds; see", done.stderr)
        self.assertIn("gpu-check: vgg16 b128 16-bit: tandem bf16: exit 70: Error: out of memory", done.stderr)
        page = self.page()
        self.assertIn("- test `kernels`: failed: Sum.Adds, 2 skipped: ", page)
        self.assertIn("more than 1 | tandem bf16: exit 70: Error: out of memory | not measured |", page)
        self.assertIn("| vgg16 | 128 | 16-bit | failed: tandem bf16: exit 70: Error: out of memory |", page)
        self.assertIn("| resnet20 | 128 | 32-bit | pytorch fp32 reduce-overhead | exit 1: RuntimeError: no such mode |", page)
        self.assertIn("| densenet121 | 128 | 32-bit | 1140.0 (tf32) |", page)


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
