#!/usr/bin/env python3
"""Opens the pages of `tandem report --format=html` in a headless Chromium. Usage: page_test.py TANDEM [unittest arguments]"""
import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from chromium import Chromium

TANDEM = sys.argv.pop(1)
RUNS = [json.loads(line) for line in (pathlib.Path(__file__).parent / "runs.jsonl").read_text().splitlines()]
HOSTILE = "<script>alert(1)</script>\"onerror=alert(2) '&amp; \u202egnp.exe\u200f \ud83d\ude80"

# The share of a canvas's pixels that something was drawn on; 0 is blank.
DRAWN = """[...document.querySelectorAll("canvas")].map(canvas => {
  if (!canvas.width || !canvas.height) return 0;
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  let drawn = 0;
  for (let i = 3; i < pixels.length; i += 4) drawn += pixels[i] > 0;
  return drawn / (pixels.length / 4);
})"""
CHART = "charts.get(document.querySelector('figure.%s'))"
COLOUR = "getComputedStyle(document.body).backgroundColor"


def changed(record, **sections):
    """A copy of the record; members of its sections replaced: changed(record, telemetry={"at_ns": []})."""
    other = copy.deepcopy(record)
    for name, value in sections.items():
        if isinstance(value, dict):
            other.setdefault(name, {}).update(value)
        else:
            other[name] = value
    return other


def gpus():
    """A run on two GPUs, device 1 the hotter."""
    moments = [250_000_000 * i for i in range(40)]
    series = [{"device": f"cuda:{gpu}", "quantity": "temperature", "unit": "C",
               "values": [50 + 10 * gpu + 0.3 * i for i in range(40)]} for gpu in range(2)]
    phases = [{"name": name, "begin_ns": begin} for name, begin in
              (("warm-up", 0), ("training", 2_000_000_000), ("validation", 6_000_000_000), ("test", 8_000_000_000))]
    return changed(RUNS[2], time="2026-01-02T00:00:00Z", telemetry={"at_ns": moments, "series": series, "phases": phases},
                   config={"model": "resnet50", "image-size": 224, "devices": "cuda:0+1"}, peak_flops_per_s=9e12,
                   placement={"replicas": [f"cuda:{gpu} Tesla P100-SXM2-16GB" for gpu in range(2)],
                              "own_image_size": 224, "forward_flops_per_image": 8.2e9, "flops_per_image": 24.3e9})


def training(classes=10, flags=False, epochs=12):
    """A training whose epochs take 10 s, its evaluations 1 s and its checkpoints 0.4 s."""
    second = 1_000_000_000
    course, evaluations = [], []
    for epoch in range(1, epochs + 1):
        missed, begin = 0.5 / epoch, 11.4 * (epoch - 1)
        course.append({"epoch": epoch, "step": 100 * epoch, "loss": 2.5 * 0.7 ** epoch, "rate": 0.1 if epoch < 8 else 0.01,
                       "training_ns": 10 * second, "evaluating_ns": second, "saving_ns": 400_000_000, "idle_ns": 0})
        evaluations.append({"split": "validation", "epoch": epoch, "step": 100 * epoch, "at_ns": round((begin + 11) * second),
                            "wall_ns": second, "averaged": False, "images": 50 * classes, "loss": 2 * missed,
                            "accuracy": 1 - missed, "top5": None if flags else 1 - missed / 5, "auc": None, "class_auc": [],
                            "confusion": []})
        if flags:
            evaluations[-1] |= {"auc": 1 - missed, "class_auc": [-1 if k == 2 else 1 - missed for k in range(classes)]}
    if not flags:
        evaluations[-1]["confusion"] = [40 if of == taken else 10 if taken == (of + 1) % classes else 0
                                        for of in range(classes) for taken in range(classes)]
    record = changed(RUNS[0], time="2026-01-05T00:00:00Z", losses=[2.3 * 0.999 ** i for i in range(100 * epochs)],
                     config={"epochs": epochs, "head": f"{classes}xsigmoid" if flags else "auto"})
    record["warmup"]["steps"] = 0
    record["training"] = {"epochs": epochs, "steps": 100 * epochs, "images": 100 * record["global_batch"],
                          "classes": [f"shape {k}" for k in range(classes)], "ended": "", "interrupted": False,
                          "course": course, "evaluations": evaluations, "resumed_at": None, "changed": "",
                          "best_step": 100 * epochs, "best_metric": "auc" if flags else "accuracy",
                          "checkpoints": epochs, "to_target_ns": None, "went_back": 0}
    return record


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = cls.enterClassContext(Chromium())
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))

    def report(self, records, name="report"):
        results, page = self.folder / f"{name}.jsonl", self.folder / f"{name}.html"
        results.write_text("".join(json.dumps(record) + "\n" for record in records))
        subprocess.run([TANDEM, "report", results, "--format=html", f"--out={page}"], check=True)
        return page

    def open(self, path, **how):
        page = self.browser.open(path, **how)
        self.addCleanup(page.close)
        return page

    def assert_sound(self, page, charts=True):
        """Asked for nothing but itself, complained of nothing, drew every chart, is not wider than its window."""
        self.assertEqual([url for url in page.requests if not url.startswith("file:")], [])
        self.assertEqual(len(page.requests), 1, page.requests)
        count = page.evaluate("document.querySelectorAll('canvas').length")
        for i in range(count):
            page.evaluate(f"document.querySelectorAll('canvas')[{i}].scrollIntoView({{behavior: 'instant'}})")
            page.settle()
        drawn = page.evaluate(DRAWN)
        self.assertEqual(len(drawn), count)
        self.assertEqual([i for i, share in enumerate(drawn) if share < 0.005], [], drawn)
        self.assertEqual(charts, count > 0)
        self.assertEqual(page.complaints, [])
        self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), page.width)

    def test_opens_without_a_network_on_a_desk_and_a_phone_in_light_and_dark(self):
        path = self.report(RUNS + [gpus()])
        for title in ("Is my number right?", "Ceilings of the machine", "Nearest published figures"):
            self.assertIn(title, path.read_text())
        for width in (1280, 390):
            for dark in (False, True):
                with self.subTest(width=width, dark=dark):
                    self.assert_sound(self.open(path, width=width, dark=dark))

    def test_faults_of_a_page_are_noticed(self):
        text = self.report(RUNS).read_text()
        end = "</main>"
        self.assertIn(end, text)
        faults = {"script": "<script>document.title = 1</script>", "image": "<img alt='' src='https://localhost/a.png'>",
                  "handler": "<p onclick='alert(1)'>", "style": "<p style='color: red'>", "canvas": "<canvas></canvas>",
                  "wide": "<hr class='wide'>"}
        for name, fault in faults.items():
            with self.subTest(fault=name):
                path = self.folder / f"fault-{name}.html"
                path.write_text(text.replace(end, fault + end))
                page = self.open(path, width=390)
                if name == "wide":
                    page.evaluate("document.querySelector('.wide').style.width = '800px'")
                if name == "handler":
                    page.evaluate("document.querySelector('[onclick]').click()")
                with self.assertRaises(AssertionError):
                    self.assert_sound(page)

    def test_charts_follow_the_colours_without_being_opened_again(self):
        page = self.open(self.report(RUNS))
        page.evaluate("document.querySelector('figure.scaling').scrollIntoView({behavior: 'instant'})")
        page.settle()
        picture = "document.querySelector('figure.scaling canvas').toDataURL()"
        light, light_chart = page.evaluate(COLOUR), page.evaluate(picture)
        page.colour_scheme(True)
        page.settle()
        self.assertNotEqual(page.evaluate(COLOUR), light)
        self.assertNotEqual(page.evaluate(picture), light_chart)
        page.colour_scheme(False)
        page.settle()
        self.assertEqual(page.evaluate(picture), light_chart)

    def test_prints_every_chart_on_light_paper(self):
        page = self.open(self.report(RUNS), dark=True)
        page.evaluate("addEventListener('beforeprint', () => { globalThis.printed = [charts.size, coloursNow().card]; })")
        self.assertEqual(page.pdf()[:5], b"%PDF-")
        self.assertEqual(page.evaluate("printed"), [page.evaluate("document.querySelectorAll('canvas').length"), "#ffffff"])
        self.assertNotEqual(page.evaluate("coloursNow().card"), "#ffffff")
        self.assertEqual(page.complaints, [])

    def test_hostile_text_is_shown_and_does_nothing(self):
        record = changed(gpus(), config={"model": HOSTILE, "strategy": HOSTILE}, notes=[HOSTILE, "x" * (1 << 20)],
                         environment={"host": HOSTILE, "cpu": HOSTILE, "devices": [HOSTILE]})
        for series in record["telemetry"]["series"]:
            series["device"] = series["quantity"] = HOSTILE + series["device"]
        record["telemetry"]["phases"][0]["name"] = HOSTILE
        failed = changed(record, outcome={"kind": "failed", "code": "data", "reason": HOSTILE})
        path = self.report(RUNS + [record, failed], "hostile")
        page = self.open(path)
        self.assert_sound(page)
        # Chart.js and ours, each named in the policy; all others are data.
        self.assertEqual(page.evaluate("document.querySelectorAll('script:not([type=\"application/json\"])').length"), 5)
        self.assertEqual(page.evaluate("document.querySelectorAll('img, iframe, object, [onerror], [style*=url]').length"), 0)
        shown = page.evaluate("document.body.textContent")
        self.assertIn("<script>alert(1)</script>\"onerror=alert(2) '&amp; [U+202E]gnp.exe[U+200F] \U0001f680", shown)
        self.assertNotIn("\u202e", shown)
        self.assertRegex(shown, r"x\.\.\. \(cut: 10485\d\d bytes in all\)")
        self.assertLess(path.stat().st_size, 1 << 20)

    def test_what_is_missing_is_a_gap(self):
        gaps = gpus()
        for series in gaps["telemetry"]["series"]:
            series["values"][5:30] = [None] * 25
        gaps["telemetry"]["series"][1]["values"] = [None] * 40
        nothing = changed(RUNS[0], time="2026-01-03T00:00:00Z", telemetry={"at_ns": [], "series": [], "phases": []}, losses=[],
                          samples={name: [] for name in RUNS[0]["samples"]})
        one = changed(RUNS[0], time="2026-01-04T00:00:00Z", samples={n: v[:1] for n, v in RUNS[0]["samples"].items()})
        for name, records in {"gaps": [gaps], "nothing": [nothing], "one": [one], "all": [gaps, nothing, one]}.items():
            with self.subTest(name):
                self.assert_sound(self.open(self.report(records, name)), charts=name != "nothing")
        page = self.open(self.report([gaps]))
        page.evaluate("document.querySelector('figure.time').scrollIntoView({behavior: 'instant'})")
        page.settle()
        self.assertEqual(page.evaluate(CHART % "time" + ".data.datasets[0].data.filter(point => point.y === null).length"), 25)

    def test_without_a_finished_run_there_are_tables_and_no_charts(self):
        failed = changed(RUNS[0], outcome={"kind": "failed", "code": "numeric", "reason": "loss is NaN"})
        page = self.open(self.report([failed]))
        self.assert_sound(page, charts=False)
        self.assertIn("loss is NaN", page.evaluate("document.body.textContent"))

    def test_telemetry_has_a_line_per_device_and_marks_the_phases(self):
        page = self.open(self.report([gpus()]))
        page.evaluate("document.querySelector('figure.time').scrollIntoView({behavior: 'instant'})")
        page.settle()
        sets = page.evaluate(CHART % "time" + ".data.datasets.map(set => [set.label, set.borderColor])")
        self.assertEqual([label for label, _ in sets], ["cuda:0", "cuda:1"])
        self.assertNotEqual(sets[0][1], sets[1][1])
        # The background in the middle of each phase, at the bottom, where no line runs.
        colours = page.evaluate("""(() => {
          const chart = %s, scale = chart.currentDevicePixelRatio;
          return [1.1, 4.1, 7.1].map(at => [...chart.ctx.getImageData(
            chart.scales.x.getPixelForValue(at) * scale, (chart.chartArea.bottom - 3) * scale, 1, 1).data].join());
        })()""" % (CHART % "time"))
        self.assertEqual(len(set(colours)), 3, colours)

    def test_a_training_has_its_curves_its_phases_and_its_classes(self):
        for name, records in {"classes": [training()], "hundred": [training(100)], "flags": [training(14, flags=True)],
                              "several": [training(), training(14, flags=True, epochs=20)]}.items():
            for width in (1280, 390):
                with self.subTest(name, width=width):
                    self.assert_sound(self.open(self.report(records, name), width=width))
        page = self.open(self.report([training()], "classes"))
        page.evaluate("drawAll(document.querySelectorAll('figure.chart'))")
        self.assertEqual(page.evaluate("document.querySelector('figure.curves').textContent.trim().slice(0, 16)"), "loss over epochs")
        sets = page.evaluate(CHART % "curves" + ".data.datasets.map(set => [set.label, set.borderColor, set.borderDash.length])")
        self.assertEqual([label for label, _, _ in sets], ["validation", "training"])
        self.assertEqual(sets[0][1], sets[1][1], "both are of one training")
        self.assertEqual([dashes for _, _, dashes in sets], [0, 2])
        # The background in the middle of the steps and the evaluation of two epochs, at the bottom.
        colours = page.evaluate("""(() => {
          const chart = charts.get(document.querySelector('#course figure.time')), scale = chart.currentDevicePixelRatio;
          return [5, 10.5, 16.4, 21.9].map(at => [...chart.ctx.getImageData(
            chart.scales.x.getPixelForValue(at) * scale, (chart.chartArea.bottom - 3) * scale, 1, 1).data].join());
        })()""")
        self.assertEqual(colours[0], colours[2])
        self.assertEqual(colours[1], colours[3])
        self.assertNotEqual(colours[0], colours[1])

    def test_a_cell_of_a_matrix_is_as_dark_as_its_share(self):
        page = self.open(self.report([training()], "classes"))
        page.evaluate("drawAll(document.querySelectorAll('figure.chart'))")
        darkness = page.evaluate("""(() => {
          const chart = charts.get(document.querySelector('figure.matrix')), scale = chart.currentDevicePixelRatio;
          return [[3, 3], [4, 3], [3, 4]].map(([x, y]) => chart.ctx.getImageData(
            (chart.scales.x.getPixelForValue(x) - 12) * scale, (chart.scales.y.getPixelForValue(y) - 12) * scale, 1, 1).data[3]);
        })()""")
        self.assertGreater(darkness[0], 180, "40 of 50 are right")
        self.assertTrue(30 < darkness[1] < 90, "10 of 50 are taken for the next class")
        self.assertEqual(darkness[2], 0)
        label = page.evaluate("""(() => {
          const chart = charts.get(document.querySelector('figure.matrix'));
          return chart.options.plugins.tooltip.callbacks.label({raw: chart.data.datasets[0].data[1]});
        })()""")
        self.assertEqual(label, "0 shape 0, taken for 1 shape 1: 10 of 50")

    def test_folds_open_and_every_run_is_there(self):
        records = [changed(RUNS[0], config={"seed": i}) for i in range(130)]
        page = self.open(self.report(records, "many"))
        self.assert_sound(page)
        self.assertEqual(page.evaluate("document.querySelectorAll('#runs tbody tr').length"), 130)
        self.assertEqual(page.evaluate("document.querySelector('#runs details').open"), False)
        self.assertIn("last 12 of 130 rows with a finished run (rows 119 to 130)", page.evaluate("document.body.textContent"))

    def test_a_cell_is_bold_only_where_it_says_a_caveat(self):
        page = self.open(self.report([changed(RUNS[i], warmup={"steady": i != 2}) for i in range(4)]))
        bold = page.evaluate("""[...document.querySelectorAll("tr.caveat td")]
          .filter(cell => Number(getComputedStyle(cell).fontWeight) > 500).map(cell => cell.textContent)""")
        self.assertEqual(set(bold), {"not steady"})
        self.assertGreater(page.evaluate("document.querySelectorAll('#scaling tr.caveat').length"), 0)

    def test_an_edge_that_hides_columns_has_a_shadow(self):
        page = self.open(self.report(RUNS), width=390)
        box = "document.querySelector('#runs .scroll')"
        self.assertGreater(page.evaluate(f"{box}.scrollWidth - {box}.clientWidth"), 0)
        # A cover that scrolls along hides the shadow of an edge that is reached.
        self.assertEqual(page.evaluate(f"getComputedStyle({box}).backgroundAttachment"), "local, local, scroll, scroll")

    def test_the_same_input_gives_the_same_bytes(self):
        self.assertEqual(self.report(RUNS, "first").read_bytes(), self.report(RUNS, "second").read_bytes())

    def test_tables_of_other_reports_are_pages_too(self):
        for words in (["published", "h100"], ["seed-tables"]):
            path = self.folder / f"{words[0]}.html"
            subprocess.run([TANDEM, "report", *words, "--format=html", f"--out={path}"], check=True)
            self.assert_sound(self.open(path, width=390), charts=False)

    def test_is_valid_html(self):
        for name, records in {"valid": RUNS + [gpus()], "one": RUNS[:1], "training": [training()]}.items():
            run = subprocess.run(["tidy", "-quiet", "-errors", "--drop-empty-elements", "no", self.report(records, name)],
                                 capture_output=True, text=True)
            self.assertEqual((run.returncode, run.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
