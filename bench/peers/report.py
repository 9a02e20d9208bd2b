"""The record of a comparison as Markdown: the headline table first, everything behind it below."""

HEADLINE = ["model", "batch", "precision", "Tandem images/s (config)", "best peer images/s (which)",
            "ratio of medians (range of the rounds)", "rounds"]
DETAIL = ["model", "batch", "precision", "Tandem", "images/s", "against", "images/s", "ratio of medians",
          "ratios of the rounds: median (range)", "rounds"]


def table(names, rows):
    lines = [names, ["---"] * len(names), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


def rate(value):
    return f"{value:.1f}" if value >= 100 else f"{value:.2f}"


def ratio(row):
    return f"**{row['ratio_of_medians']:.3f}** ({row['least']:.3f} to {row['greatest']:.3f})"


def case_of(result):
    return [result["model"], str(result["batch"]), result["precision"]]


def headline(results):
    rows = []
    for result in results:
        row = result.get("headline")
        if result["error"]:
            rows.append([*case_of(result), f"failed: {cell(result['error'])}", "", "", ""])
        elif result.get("unfinished"):
            rows.append([*case_of(result), f"unfinished: {cell(result['unfinished'])}", "", "", ""])
        elif row is None:
            rows.append([*case_of(result), "", "no peer finished", "", ""])
        else:
            rows.append([*case_of(result), f"{rate(row['median_of'])} ({row['of'].removeprefix('tandem ')})",
                         f"{rate(row['median_over'])} ({row['over']})", ratio(row), str(row["pairs"])])
    return table(HEADLINE, rows)


def cell(text):
    return text.replace("|", "\\|")


def detail(results):
    rows = [[*case_of(result), row["of"], rate(row["median_of"]), row["over"], rate(row["median_over"]),
             f"{row['ratio_of_medians']:.3f}", f"{row['median_of_ratios']:.3f} ({row['least']:.3f} to {row['greatest']:.3f})", str(row["pairs"])]
            for result in results for row in result.get("rows", [])]
    return table(DETAIL, rows)


def failures(results):
    rows = [[*case_of(result), name, cell(failure["reason"])]
            for result in results for name, failure in result["failures"].items()]
    names = ["model", "batch", "precision", "contender", "why"]
    return ["", "## Contenders that failed", "", *table(names, rows)] if rows else []


def case(result):
    """The raw rates of a case, in order, and how to repeat a run."""
    lines = ["", f"## {result['model']}, global batch {result['batch']}, {result['precision']}", "",
             f"{result['warmup']} steps of warm-up, {result['steps']} measured; steal time {result['steal percent']} %. "
             "images/s of each round in order; whoever has only qualifying rates did not go on.", ""]
    for part in ("qualifying", "main"):
        lines += [f"- {part}, {name}: " + ", ".join(rate(run["images_per_s"]) for run in runs)
                  for name, runs in result[part].items() if runs]
    shown = {name: command for name, command in result["commands"].items()
             if result["error"] or name in result["main"] or name in result["failures"]}
    return lines + ["", "Commands:", ""] + [f"- {name}: `{command}`" for name, command in shown.items()]


def markdown(results, facts, title="Tandem and its peers", remarks=()):
    """`remarks`: lines between the facts and the first table."""
    lines = [f"# {title}", "", *(f"- {name}: {value}" for name, value in facts.items()), "", *remarks,
             *headline(results), "", "## Each kind of peer against Tandem in the same shape", "", *detail(results),
             *failures(results)]
    for result in results:
        lines += case(result)
    return "\n".join(lines) + "\n"
