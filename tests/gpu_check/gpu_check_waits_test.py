#!/usr/bin/env python3
"""scripts/gpu-check where a program does not come to its end: mostly waits, so it need not run alone.
Usage: gpu_check_waits_test.py [unittest arguments]"""
import unittest

from stand_ins import StandIns, budget


class GpuCheckWaitsTest(StandIns):
    def test_a_choice_that_the_budget_ends_goes_on_in_the_next_call(self):
        self.assertEqual(self.check("build").returncode, 0)
        case = "--cases=vgg16:128:16"
        first = self.check("compare", "page", case, budget(12), STAND_IN_SLOW_CHOICE="vgg16")
        self.assertEqual(first.returncode, 75, first.stderr)
        self.assertIn("kernels of vgg16 b128 bf16: not all are chosen", first.stderr)
        self.assertIn("before: vgg16 b128 bf16 12 s (not done).", self.page())
        self.assertEqual(self.check("compare", case).returncode, 0)
        self.assertGreaterEqual(self.kept()["kernels"]["kernels of vgg16 b128 bf16"]["seconds"], 11)

    def test_a_run_that_takes_too_long_does_not_close_its_case(self):
        self.assertEqual(self.check("build", "compare", "--cases=resnet20:128:16", "--modes=eager").returncode, 0)
        slow = ("compare", "--cases=vgg16:128:16", "--modes=eager")
        first = self.check(*slow, budget(30), STAND_IN_SLOW_RUN="vgg16")
        self.assertEqual(first.returncode, 75, first.stderr)
        self.assertIn("left out: compare: vgg16 b128 16-bit: tandem bf16: no result after", first.stderr)
        self.assertEqual(self.check(*slow).returncode, 0)


unittest.main()
