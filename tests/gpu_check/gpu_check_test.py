#!/usr/bin/env python3
"""scripts/gpu-check with programs that stand in for the GPU's: what runs in which order, what a page says, what a second
call goes on with. Usage: gpu_check_test.py [unittest arguments]"""
import json
import re
import shutil
import unittest

from stand_ins import HERE, StandIns, budget

CASES, ROUNDS, PROFILES, MODES = 12, 5, 3, 6


class GpuCheckTest(StandIns):
    def test_one_line_where_nothing_can_be_measured(self):
        (self.bin / "nvidia-smi").unlink()
        self.expect_line(self.check(path=str(self.bin)), 2, "no NVIDIA driver here", "nvidia-smi")
        shutil.copy(HERE / "stand_in", self.bin / "nvidia-smi")
        self.expect_line(self.check(STAND_IN_BROKEN_DRIVER="1"), 2, "NVIDIA-SMI has failed: no driver")
        self.expect_line(self.check(STAND_IN_CAPABILITY="7.5"), 2, "7.5", "8.0 or more")
        self.expect_line(self.check("compair"), 2, "'compair'", "build, smoke, compare, profile, tests, long-tests, page")
        self.expect_line(self.check("--budget=15"), 2, "--budget=15", "more than 15")
        self.expect_line(self.check("--cases=resnet50,resnet51:2"), 2, "--cases", "'resnet51:2'", "resnet50:256:16-bit")
        self.expect_line(self.check(f"--bundle={self.folder / 'none'}"), 2, "no bundle is there", "scripts/bundle")
        self.expect_line(self.check(f"--state-from={self.folder}"), 2, "has no state.json", "--out of an earlier call")
        self.assertFalse(self.log("cmake"))

    def test_everything_and_a_page_of_what_was_found(self):
        done = self.check("--modes=all")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("-DCMAKE_CUDA_ARCHITECTURES=90-real", self.log("cmake --preset cuda")[0])
        self.assertIn("--target tandem gpu_tests", self.log("cmake --build")[0])
        self.assertIn(f"-DCMAKE_CUDA_COMPILER={self.bin / 'nvcc'}", self.log("cmake --preset cuda")[0])
        self.assertEqual(self.log("in ", "with x=device"),
                         [f"in {self.bin} with x=device, kernels' times in /nowhere/cache"])

        runs = self.log("--model=resnet50", "--batch=256", without="--profile")
        runs = [line for line in runs if "--steps=2 " not in line]
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
        self.assertIn("- smoke `kernels`: passed, 2 skipped: `Shapes/Sum.Adds/*`, `CudnnNorm.IsRight` (", page)
        self.assertIn("Tandem's step as a CUDA graph: on (all runs).", page)
        for row in ("| resnet50 b256 16-bit | over PyTorch eager | at least 1.6 | 1.900 | reached |",
                    "| resnet50 b256 16-bit | over the best mode of torch.compile | at least 1.2 | 1.425 | reached |",
                    "| resnet50 b256 16-bit | Tandem | at least 6000 images/s | 1140.0 images/s | **not reached** |",
                    "| resnet50 b256 32-bit | Tandem in tf32 | at least 2700 images/s | 1140.0 images/s | **not reached** |",
                    "| resnet20 b128 16-bit | over PyTorch eager | at least 3 | 1.900 | **not reached** |",
                    "| vgg16 b128 16-bit | over the best peer | more than 1 | 1.425 | reached |",
                    "| resnet50 b256 bf16 | the GPU idle, the step a CUDA graph | less than 2 % | 1.250 % | reached |"):
            self.assertIn(row, page)
        self.assertRegex(page, r"in runs of their own, before: resnet50 b256 bf16 \d+ s, resnet50 b256 fp16 \d+ s, ")
        self.assertNotIn("not measured", page)
        self.assertNotIn("Left out", page)
        results = json.loads(self.page("json"))["results"]
        self.assertEqual(len(results), CASES)
        self.assertTrue(all(len(runs) == ROUNDS for result in results for runs in result["main"].values()))
        self.assertEqual(len(self.page("jsonl").splitlines()), 2 * CASES * (1 + ROUNDS) + PROFILES)

    def first(self, *parts):
        """Where the first such call stands in the log."""
        return self.log().index(self.log(*parts)[0])

    def test_the_order_and_that_no_test_runs_twice(self):
        done = self.check("--cases=resnet20:128:16")
        self.assertEqual(done.returncode, 0, done.stderr)
        order = [("cmake --build",), ("test_kernels", "*Cudnn*"), ("tandem bench", "--steps=500"), ("tandem", "--profile"),
                 ("test_device",), ("test_run", "LongOnAGpu")]
        places = [self.first(*parts) for parts in order]
        self.assertEqual(places, sorted(places))
        tests = [line.split(" --gtest_filter=") for line in self.log("test_")]
        self.assertEqual([program for program, _ in tests],
                         ["test_kernels", "test_run", "test_device", "test_kernels", "test_run"])
        self.assertTrue(tests[0][1].endswith("-NormActGradient*:Long*"), tests[0])
        self.assertEqual([text for _, text in tests[1:]],
                         ["OnAGpu.*", "-Long*", "-Long*:Shapes/Sum.Adds/*:CudnnNorm.IsRight:Sum.Adds", "LongOnAGpu.*"])
        for name in ("smoke `run_on_a_gpu`", "test `device`", "long test `run_long_on_a_gpu`"):
            self.assertIn(f"- {name}: passed", self.page())

    def test_cases_and_modes_are_those_that_are_named(self):
        self.assertEqual(self.check("build", "compare", "--cases=resnet20:128,vgg16:128:32").returncode, 0)
        self.assertEqual([name for name in self.kept()["compare"]["cases"]],
                         ["resnet20 b128 16-bit", "resnet20 b128 32-bit", "vgg16 b128 32-bit"])
        modes = {line.split("--mode=")[1].split()[0] for line in self.log("--mode=")}
        self.assertEqual(modes, {"eager", "compile", "reduce-overhead"})
        done = self.check("compare", "--modes=eager,fast")
        self.assertEqual(done.returncode, 1)
        self.assertIn("gpu-check: compare: --modes: unknown 'fast'; with this PyTorch valid: eager, compile, lite, "
                      "reduce-overhead, max-autotune-no-cudagraphs, max-autotune, all\n", done.stderr)

    def test_a_further_mode_takes_its_turns_with_the_others(self):
        case = "--cases=resnet20:128:16"
        self.assertEqual(self.check("build", "compare", case, "--modes=eager").returncode, 0)
        before = len(self.log())
        self.assertEqual(self.check("compare", "page", case, "--modes=max-autotune").returncode, 0)
        runs = self.log("--steps=500")[-4 * ROUNDS:]
        self.assertEqual(sum("tandem bench" in line for line in runs), 2 * ROUNDS)
        self.assertEqual(sum("--mode=eager" in line for line in runs), ROUNDS)
        self.assertEqual(sum("--mode=max-autotune" in line for line in runs), ROUNDS)
        self.assertIn("(pytorch autocast-fp16 max-autotune)", self.page())
        self.assertGreater(len(self.log()), before)
        before = len(self.log("--mode="))
        self.assertEqual(self.check("compare", case, "--modes=eager").returncode, 0)
        self.assertEqual(len(self.log("--mode=")), before)

    def test_kernels_are_chosen_before_and_never_as_a_contender(self):
        self.assertEqual(self.check("build", "compare", "--cases=vgg16:128:16").returncode, 0)
        runs = self.log("tandem bench")
        self.assertEqual([("--warmup=1 --steps=2 " in line, line.split("--precision=")[1].split()[0]) for line in runs[:4]],
                         [(True, "bf16"), (True, "fp16"), (False, "bf16"), (False, "fp16")])
        self.assertEqual(len(self.log("--warmup=1 --steps=2 ")), 2)
        self.assertTrue(all("--repeats=1" in line for line in runs))
        self.assertEqual((self.folder / "state/measured.tsv").read_text(), "a time\n" * 2)
        self.assertEqual(len((self.folder / "state/records.jsonl").read_text().splitlines()), 2 * (1 + ROUNDS))

    def test_the_page_is_written_whatever_fails(self):
        done = self.check(STAND_IN_ENGINES="none")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("Failed:\n\n- build: the program has no convolution engines", self.page())
        done = self.check("build", "compare", "page", "--cases=vgg16", STAND_IN_NO_TORCH="1")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("gpu-check: build: python ended with exit code 1: no module torch\n", done.stderr)

    def prepare_page(self):
        """What a page needs: a comparison, here without runs, which do not fit the budget."""
        self.assertEqual(self.check("build").returncode, 0)
        self.assertEqual(self.check("compare", budget(1)).returncode, 75)
        self.assertEqual(self.log("tandem bench"), [])

    def test_a_build_without_cudnns_engines_is_refused(self):
        done = self.check("build", STAND_IN_ENGINES="none")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("gpu-check: build: the program has no convolution engines", done.stderr)
        self.assertEqual(self.check("tests").returncode, 75)
        self.assertIn("engines", self.kept()["failed"]["build"])
        (self.folder / "frontend/include/cudnn_frontend.h").unlink()
        self.assertIn("build: setup ended with exit code 2", self.check("build").stderr)

    def test_what_was_not_a_graph_is_said(self):
        self.assertEqual(self.check("build").returncode, 0)
        # 40 s hold Tandem's qualifying runs, but no run of a compiled peer.
        self.assertEqual(self.check("compare", "page", budget(40), STAND_IN_UNGRAPHED="resnet20").returncode, 75)
        self.assertRegex(self.page(), r"as a CUDA graph: on \(resnet50 b256 tandem bf16, .*\); off: a stand-in "
                                      r"\(resnet20 b128 tandem bf16, [^,]* fp16, [^,]* fp32, [^,]* tf32\)\.\n")

    def test_tests_go_on_where_the_budget_ended(self):
        self.assertEqual(self.check("build").returncode, 0)
        first = self.check("tests", budget(4), STAND_IN_SLOW_TEST="test_kernels")
        self.assertEqual(first.returncode, 75, first.stderr)
        self.assertIn("tests kernels: not done, 1 passed, at Sum.Adds, 2 skipped", first.stderr)
        self.check("tests")
        self.assertEqual(len(self.log("test_device")), 1)
        self.assertEqual(self.log("test_kernels")[1:],
                         ["test_kernels --gtest_filter=-Long*:Shapes/Sum.Adds/*:CudnnNorm.IsRight"])

    def test_a_test_that_crashes_is_named_and_those_behind_it_run(self):
        self.assertEqual(self.check("build").returncode, 0)
        done = self.check("smoke", STAND_IN_CRASHING_TEST="test_kernels")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("gpu-check: smoke: kernels ended with exit code 3 in Sum.Adds; see", done.stderr)
        calls = self.log("test_kernels")
        self.assertEqual(len(calls), 2)
        self.assertTrue(calls[1].endswith(":Shapes/Sum.Adds/*:CudnnNorm.IsRight:Sum.Adds"), calls)
        self.assertEqual(len(self.log("test_run")), 1)
        self.assertEqual(self.check("tests", STAND_IN_CRASHING_TEST="test_kernels").returncode, 0)

    def profiled(self):
        return [line.split()[2].removeprefix("--model=") for line in self.log("tandem bench", "--profile")]

    def test_the_tables_of_the_device_s_step_are_on_the_page(self):
        self.prepare_page()
        done = self.check("profile", "page")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.profiled(), ["resnet50", "resnet50", "resnet20"])
        runs = (("resnet50", 256, "bf16"), ("resnet50", 256, "fp16"), ("resnet20", 128, "bf16"))
        for model, batch, precision in runs:
            found = re.search(rf"^## What the GPU does in a step of Tandem: {model} b{batch} {precision}\n\n`(.*)`\n\n"
                              r"The step as a CUDA graph: on.\n\n```\n([^`]*)```\n", self.page(), re.MULTILINE)
            self.assertTrue(found, self.page())
            for part in ("tandem bench", f"--batch={batch} ", "--devices=cuda:0", f"--precision={precision}",
                         "--input=device", "--cuda-graph=on --profile"):
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
        self.assertIn("gpu-check: profile: resnet50 b256 bf16: exit 70: error[cuda]: out of memory; "
                      "resnet50 b256 fp16: exit 70", done.stderr)
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
        first = self.check("profile", "page", budget(15))
        self.assertEqual(first.returncode, 75, first.stderr)
        self.assertIn("left out: profile: resnet50 b256 bf16 takes about 16 s", first.stderr)
        self.assertEqual(self.profiled(), ["resnet20"])
        self.assertIn("- profile: resnet50 b256 bf16 takes about 16 s", self.page())
        self.assertNotIn("conv  resnet50", self.page())
        self.assertIn("less than 2 % | not begun | not measured |", self.page())

        second = self.check("profile", "page")
        self.assertEqual(second.returncode, 0, second.stderr)
        self.assertEqual(self.profiled(), ["resnet20", "resnet50", "resnet50"])
        self.assertNotIn("- profile: ", self.page())
        self.assertIn("conv  resnet50", self.page())

    def test_a_page_without_a_profile(self):
        self.prepare_page()
        self.assertEqual(self.check("profile", budget(1)).returncode, 75)
        done = self.check("page")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("- profile: kernels of resnet50 b256 bf16 takes about 10 s", self.page())
        self.assertNotIn("What the GPU does", self.page())
        self.assertFalse(self.log("--profile"))

    def rated(self, model, precision):
        """Tandem's runs that have a rate."""
        found = self.log("tandem bench", f"--model={model} ", f"--precision={precision} ", "--batch=256", without="--profile")
        return [line for line in found if "--warmup=1 " not in line]

    def test_a_second_call_goes_on_where_the_budget_ended(self):
        # 100 s hold no first run of a mode that tries many kernels, which is thought to take 150 s.
        given = ("--modes=all", "--cases=resnet50:256,vgg16")
        first = self.check(*given, budget(100))
        self.assertEqual(first.returncode, 75, first.stderr)
        self.assertIn("left out: compare: resnet50 b256 16-bit: pytorch autocast max-autotune-no-cudagraphs takes about",
                      first.stderr)
        self.assertIn("Left out, because the time was spent", self.page())
        self.assertIn("| resnet50 | 256 | 16-bit | unfinished: ", self.page())
        self.assertFalse(self.log("--mode=max-autotune"))
        before = len(self.rated("resnet50", "bf16"))
        self.assertEqual(before, 1)

        second = self.check(*given)
        self.assertEqual(second.returncode, 0, second.stderr)
        self.assertEqual(len(self.rated("resnet50", "bf16")),
                         1 + ROUNDS)
        self.assertEqual(len(self.log("test_kernels")), 2)   # by smoke and by tests, in the first call
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
        done = self.check("--cases=vgg16:128:16,resnet20:128:32,densenet121:128:32",
                          STAND_IN_FAILING_TEST="test_kernels", STAND_IN_FAILING_MODEL="vgg16",
                          STAND_IN_FAILING_MODE="reduce-overhead")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("gpu-check: smoke: kernels failed: Sum.Adds; see", done.stderr)
        self.assertIn("gpu-check: compare: vgg16 b128 16-bit: kernels of vgg16 b128 bf16: exit 70: Error: out of memory", done.stderr)
        page = self.page()
        self.assertIn("- smoke `kernels`: failed: Sum.Adds, 2 skipped: ", page)
        self.assertIn("more than 1 | kernels of vgg16 b128 bf16: exit 70: Error: out of memory | not measured |", page)
        self.assertIn("| vgg16 | 128 | 16-bit | failed: kernels of vgg16 b128 bf16: exit 70: Error: out of memory |", page)
        self.assertIn("| resnet20 | 128 | 32-bit | pytorch fp32 reduce-overhead | exit 1: RuntimeError: no such mode |", page)
        self.assertIn("| densenet121 | 128 | 32-bit | 1140.0 (tf32) |", page)


unittest.main()
