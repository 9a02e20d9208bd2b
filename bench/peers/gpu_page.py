"""What scripts/gpu-check found, as a page of Markdown with its rates and records beside it."""
import json
import re

import gpu_goals
import gpu_tests
import report

PRECISIONS = (
    "`16-bit` is the better of Tandem's bf16 and fp16 (fp32 master weights, with fp16 a scaled loss) beside the better of "
    "PyTorch's autocast in bf16 and fp16, `32-bit` the better of fp32 and tf32 on either side; tf32 rounds what "
    "convolutions and products read to 10 bits.")


def graphs(cases):
    """Whether Tandem's steps were CUDA graphs, as its records say."""
    said = {}
    for case in cases:
        for name, runs in (of for part in ("qualifying", "main") for of in case[part].items()):
            for text in (run["graph"] for run in runs if "graph" in run):
                said.setdefault(text, []).append(f"{case['model']} b{case['batch']} {name}")
    found = [f"{text} ({'all runs' if len(said) == 1 else ', '.join(dict.fromkeys(names))})"
             for text, names in said.items()]
    return f"Tandem's step as a CUDA graph: {'; '.join(found) or 'no run'}."


def remarks(state, cases, qualifiers, rounds):
    """What stands between the facts and the rates: what was compared, the tests, what is missing, and the goals."""
    verdicts = [f"- test `{name}`: {gpu_tests.verdict(entry)} ({entry['seconds']} s)"
                for name, entry in state.section("tests").items()]
    missing = [f"- {reason}" for reason in state.section("left out").values()]
    return [PRECISIONS, "", graphs(cases), "", f"A process a run; {qualifiers} qualifying run of everybody, then {rounds} interleaved rounds "
            "of Tandem in both, the best eager peer and the best compiled one. Rates are medians. Peers are channels_last, with "
            "cudnn.benchmark and fused SGD, and wait for the GPU at both ends of the measurement only.", "",
            "Tests of the kernels on this GPU:", "", *(verdicts or ["- not run"]), "",
            *(["Left out, because the time was spent:", "", *missing, ""] if missing else []), *gpu_goals.section(state),
            "## Rates", ""]


def profiles(state):
    """What the GPU does in a step, as Tandem's profiles print it, or why one has nothing."""
    lines = []
    for name, found in state.section("profile").items():
        shown = [f"The step as a CUDA graph: {found['graph']}.", "", "```", found["tables"], "```"] \
            if "tables" in found else [f"failed: {found['error']}"]
        lines += ["", f"## What the GPU does in a step of Tandem: {name}", "", f"`{found['command']}`", "", *shown]
    return "".join(f"{line}\n" for line in lines)


def write(folder, state, records, qualifiers, rounds):
    """DATE-gpu-NAME.md, .json and .jsonl. Returns the headline's lines and DATE-gpu-NAME; None where nothing was
    compared."""
    section = state.section("compare")
    cases = [case for case in section.get("cases", {}).values() if "main" in case]
    if not cases:
        return None
    facts = section["facts"]
    name = f"{facts['time'][:10]}-gpu-{re.sub('[^a-z0-9]+', '-', facts['gpu'].lower()).strip('-')}"
    title = f"Tandem beside PyTorch on one {facts['gpu']}, {facts['time'][:10]}"
    folder.mkdir(parents=True, exist_ok=True)
    page = report.markdown(cases, facts, title, remarks(state, cases, qualifiers, rounds)) + profiles(state)
    (folder / f"{name}.md").write_text(page)
    (folder / f"{name}.json").write_text(json.dumps({"machine": facts, "results": cases}, indent=1) + "\n")
    if records.exists():
        (folder / f"{name}.jsonl").write_bytes(records.read_bytes())
    return report.headline(cases), name
