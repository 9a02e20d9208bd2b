#!/usr/bin/env python3
"""bench/peers with runs that are made up: the order of rounds, who trains another network, and the records. The rates of
recipes are those of Tandem's own."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/peers"))
import contenders  # noqa: E402
import ratios  # noqa: E402
import recipe  # noqa: E402
import records  # noqa: E402
import rounds  # noqa: E402
from contenders import Contender  # noqa: E402

TANDEM = pathlib.Path(sys.argv.pop(1))
# Two records of one and two replicas.
TEMPLATES = [json.loads(line) for line in
             (ROOT / "tests/measure/record/0.1.0/results.jsonl").read_text(encoding="utf-8").splitlines()]


def contender(name, side, replicas, program="tandem"):
    return Contender(name, side, replicas, ["run", name], None, 1, program=program)


FIELD = [contender("tandem 1", "tandem", 1), contender("tandem 2", "tandem", 2),
         contender("pytorch 1", "pytorch 1 process", 1, "PyTorch eager, torch 2.11.0"),
         contender("pytorch 2", "pytorch DDP", 2, "PyTorch DDP eager, torch 2.11.0"),
         contender("tf 2", "tf_cnn_benchmarks", 2, "tf_cnn_benchmarks, tensorflow 2.15")]


def rate_of(record):
    return record["global_batch"] * record["measured_steps"] / (record["window_ns"] / 1e9)


def runs_of_a_case(count):
    own = {f"tandem {t['config']['replicas']}": [{"images_per_s": rate_of(t), "record": t}] * count for t in TEMPLATES}
    return own | {"pytorch 1": [{"images_per_s": 50.0, "step_s": [0.08, 0.08, 0.08]}] * count,
                  "pytorch 2": [{"images_per_s": 70.0, "step_s": [0.1]}] * count, "tf 2": [{"images_per_s": 90.0}] * count}


class Played(rounds.Plan):
    """Notes who ran."""

    def __init__(self, **plan):
        super().__init__(**plan)
        self.order = []

    def took(self, contender, seconds, failure):
        self.order.append(contender.name)


class Rounds(unittest.TestCase):
    def play(self, parameters):
        plan, case = Played(qualifiers=0, pairs=6, timeout=1), {}
        field = [contender(name, name.split()[0], 1) for name in parameters]
        for each in field:
            each.run = lambda _, name=each.name: {"images_per_s": 1.0, "parameters": parameters[name]}
        rounds.measure(case, field, plan, lambda _: None)
        return plan.order, case

    def test_each_round_has_an_order_of_its_own_and_everybody_once(self):
        order, _ = self.play({"tandem 1": 7, "a": 7, "b": 7, "c": 7})
        turns = [order[i:i + 4] for i in range(0, 24, 4)]
        for turn in turns:
            self.assertEqual(sorted(turn), ["a", "b", "c", "tandem 1"])
        self.assertGreater(len({tuple(turn) for turn in turns}), 1)
        self.assertGreater(len({turn[0] for turn in turns}), 1)
        self.assertEqual(order, self.play({"tandem 1": 7, "a": 7, "b": 7, "c": 7})[0])

    def test_a_run_of_tandem_measures_once(self):
        run = {"model": "trivial", "batch": 2, "lr": 0.1, "precision": "fp32", "warmup": 1, "steps": 2}
        options = argparse.Namespace(tandem=TANDEM, tandem_args=["--image-size=32", "--devices=cpu"])
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "records.jsonl"
            contenders.replace(contenders.tandem(run, 1, 1, options), records=file).run(60)
            self.assertEqual(len(file.read_text(encoding="utf-8").splitlines()), 1)

    def test_who_trains_another_network_is_out_after_the_round(self):
        order, case = self.play({"tandem 1": 7, "other": 8, "same": 7})
        self.assertEqual(list(case["failures"]), ["other"])
        self.assertIn("trains 8 parameters, Tandem 7", case["failures"]["other"]["reason"])
        self.assertEqual(order.count("other"), 1)

    def test_ratios_are_those_of_the_rounds(self):
        runs = {"tandem 1": [{"images_per_s": rate} for rate in (10, 12, 14)],
                "pytorch 1": [{"images_per_s": rate} for rate in (10, 10, 10)]}
        headline, _ = ratios.ratios(FIELD, runs, {})
        self.assertEqual((headline["ratio_of_medians"], headline["least"], headline["greatest"]), (1.2, 1.0, 1.4))
        self.assertNotIn("interval", headline)

    def test_ranks_are_compared_with_processes_and_with_threads(self):
        field = [contender("tandem 2", "tandem", 2), contenders.replace(contender("tandem 2 ranks", "tandem", 2), ranks=2),
                 contender("ddp", "pytorch DDP", 2), contender("ddp x 4", "pytorch DDP", 4),
                 contenders.replace(contender("tandem 4 ranks", "tandem", 4), ranks=4)]
        rates = {"tandem 2": 20, "tandem 2 ranks": 18, "ddp": 10, "ddp x 4": 8, "tandem 4 ranks": 12}
        headline, rows = ratios.ratios(field, {name: [{"images_per_s": rate}] for name, rate in rates.items()}, {})
        self.assertEqual((headline["of"], headline["over"]), ("tandem 2", "ddp"))
        self.assertEqual([(row["of"], row["over"], row["ratio_of_medians"]) for row in rows],
                         [("tandem 2 ranks", "ddp", 1.8), ("tandem 4 ranks", "ddp x 4", 1.5),
                          ("tandem 2 ranks", "tandem 2", 0.9), ("tandem 4 ranks", "tandem 2 ranks", 12 / 18)])


class Recipes(unittest.TestCase):
    OPTIONS = {"epochs": 3, "lr": 0.2, "lr-scaling": "linear", "lr-batch": 32, "warmup-epochs": 0.7, "warmup-from": 0.1}
    SCHEDULES = ({"schedule": "cosine"}, {"schedule": "piecewise", "lr-steps": "1+2", "lr-factor": 0.5}, {"schedule": "constant"})

    def course_of_tandem(self, options):
        """Updates and the last rate after each half epoch of 100 images in batches of 8."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            made = [TANDEM, "data", "make", folder / "images", "--images=100", "--size=32x32"]
            subprocess.run(made, check=True, capture_output=True)
            out = folder / "records.jsonl"
            typed = [f"--{name}={value}" for name, value in options.items()]
            subprocess.run([TANDEM, "train", "--model=trivial", "--image-size=32", f"--data={folder / 'images'}", "--batch=8",
                            "--devices=cpu", "--validate-every=0.5", f"--out={out}", *typed], check=True, capture_output=True)
            return [(part["step"], part["rate"]) for part in json.loads(out.read_text(encoding="utf-8"))["training"]["course"]]

    def test_updates_and_rates_are_those_of_tandem(self):
        for schedule in self.SCHEDULES:
            options = self.OPTIONS | schedule
            found, course = self.course_of_tandem(options), recipe.Course(options, 100, 8)
            self.assertEqual([step for step, _ in found], [course.end_of(half / 2) for half in range(1, 7)])
            for step, rate in found:
                self.assertAlmostEqual(rate, course.rate(step - 1), delta=1e-9, msg=f"{schedule}, update {step}")

    def test_epochs_end_with_their_last_image(self):
        course = recipe.Course(self.OPTIONS | {"epochs": 2.5}, 100, 8)
        self.assertEqual(course.ends(), [(1, 13), (2, 25), (2.5, 32)])

    def test_what_is_not_known_is_refused(self):
        with self.assertRaisesRegex(recipe.Unknown, "no recipe 'none'"):
            recipe.options_of("none")
        with self.assertRaisesRegex(recipe.Unknown, "cifar10-fast: PyTorch's side has no"):
            recipe.options_of("cifar10-fast")

    def test_bad_input_is_one_line(self):
        for command in (["bench/training", "--tandem=/none"], ["bench/training", "--epochs=0"], ["bench/training", "--ranks=3"],
                        ["scripts/verify-training", "--program=/none"], ["scripts/verify-training", "--steps=1"]):
            done = subprocess.run([sys.executable, ROOT / command[0], *command[1:]], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done.stderr)


class Recorded(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name) / "records.jsonl"
        kept = records.Records(self.path)
        kept.add_case("peers resnet20 fp32", FIELD, runs_of_a_case(3))
        self.records = [json.loads(line) for line in self.lines()]

    def lines(self):
        return self.path.read_text(encoding="utf-8").splitlines()

    def test_every_main_run_is_a_record_of_its_round(self):
        self.assertEqual(len(self.records), 15)
        self.assertEqual([record["round"] for record in self.records], [1] * 5 + [2] * 5 + [3] * 5)
        self.assertEqual({record["sweep"] for record in self.records}, {"peers resnet20 fp32"})
        found = {record["config"].get("program", "tandem"): round(rate_of(record), 3) for record in self.records[2:5]}
        self.assertEqual(found, {FIELD[2].program: 50.0, FIELD[3].program: 70.0, FIELD[4].program: 90.0})

    def test_a_peer_has_the_work_of_tandem_and_nothing_of_its_own(self):
        peer, own = self.records[3], self.records[1]
        self.assertEqual(peer["config"] | {"program": None}, own["config"] | {"program": None})
        self.assertEqual(peer["placement"]["parameters"], own["placement"]["parameters"])
        self.assertEqual((peer["samples"]["wall_ns"], peer["losses"], peer["placement"]["convolution_passes"]), ([], [], {}))
        self.assertEqual(self.records[2]["samples"]["wall_ns"], [80000000] * 3)

    def test_a_round_without_tandem_in_its_shape_leaves_a_peer_out(self):
        kept = records.Records(self.path)
        runs = runs_of_a_case(2)
        runs["tandem 2"] = runs["tandem 2"][:1]
        kept.add_case("x", FIELD, runs)
        self.assertEqual(len(self.lines()), 5 + 2)

    def test_tandem_reads_them_and_shows_the_programs_side_by_side(self):
        done = subprocess.run([TANDEM, "report", self.path], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stderr)
        for part in ("program", FIELD[2].program, FIELD[3].program, FIELD[4].program):
            self.assertIn(part, done.stdout)
        self.assertNotIn("samples missing", done.stdout)


unittest.main()
