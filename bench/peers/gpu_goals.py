"""What Tandem is to reach on one NVIDIA H200, and whether it did: the one table of goals."""
import operator
import statistics
from dataclasses import dataclass
from typing import Callable

import report

RELATIONS = {"at least": operator.ge, "more than": operator.gt, "less than": operator.lt}


def over(side):
    """Tandem's best over the best peer of a side."""
    return lambda case: next((row["ratio_of_medians"] for row in case["rows"] if row["side"] == side), None)


def over_all(case):
    return case["headline"]["ratio_of_medians"] if case["headline"] else None


def rate(*names):
    """The median of the fastest of these contenders."""
    return lambda case: max(statistics.median(run["images_per_s"] for run in case["main"][name]) for name in names)


@dataclass(frozen=True)
class Goal:
    of: str               # a comparison's or a profile's name
    what: str
    measured: Callable    # of what was found; None where nothing was
    relation: str
    value: float
    unit: str = ""


EAGER, COMPILED = over("pytorch eager"), over("pytorch compile")
GOALS = [Goal("resnet50 b256 16-bit", "over PyTorch eager", EAGER, "at least", 1.6),
         Goal("resnet50 b256 16-bit", "over the best mode of torch.compile", COMPILED, "at least", 1.2),
         Goal("resnet50 b256 16-bit", "Tandem", rate("tandem bf16", "tandem fp16"), "at least", 6000, " images/s"),
         Goal("resnet50 b256 32-bit", "Tandem in tf32", rate("tandem tf32"), "at least", 2700, " images/s"),
         Goal("resnet50 b32 16-bit", "over PyTorch eager", EAGER, "at least", 2),
         Goal("resnet20 b128 16-bit", "over PyTorch eager", EAGER, "at least", 3),
         *(Goal(f"{model} b128 16-bit", "over the best peer", over_all, "more than", 1)
           for model in ("densenet121", "vgg16", "mobilenet_v2")),
         Goal("resnet50 b256 bf16", "the GPU idle, the step a CUDA graph", lambda profile: profile["idle percent"],
              "less than", 2, " %")]


def judged(goal, found):
    """What was measured, or why nothing was, and whether the goal is reached."""
    why = "not begun" if found is None else found.get("error") or found.get("unfinished")
    value = None if why else goal.measured(found)
    if value is None:
        return [report.cell(why or "nothing to compare with"), "not measured"]
    reached = RELATIONS[goal.relation](value, goal.value)
    return [(f"{value:.1f}" if value >= 100 else f"{value:.3f}") + goal.unit, "reached" if reached else "**not reached**"]


def section(state):
    found = state.section("compare").get("cases", {}) | state.section("profile")
    rows = [[goal.of, goal.what, f"{goal.relation} {goal.value:g}{goal.unit}", *judged(goal, found.get(goal.of))]
            for goal in GOALS]
    return ["## Goals", "", "They are set for one H200; on another GPU they only say how far it is.", "",
            *report.table(["of", "what", "goal", "measured", "verdict"], rows), ""]
