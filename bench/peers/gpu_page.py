"""What scripts/gpu-check found, as a page of Markdown with its rates and records beside it."""
import datetime
import json
import re

import gpu
import gpu_choosing
import gpu_compare
import gpu_goals
import gpu_tests
import machine
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


def tests(state):
    lines = [f"- {kind} `{name}`: {gpu_tests.verdict(entry)} ({entry['seconds']} s)"
             for kind, section in (("smoke", "smoke"), ("test", "tests"), ("long test", "long-tests"))
             for name, entry in state.section(section).items()]
    return ["Tests of the kernels on this GPU:", "", *(lines or ["- not run"]), ""]


def listed(title, reasons):
    return [title, "", *(f"- {reason}" for reason in reasons), ""] if reasons else []


def remarks(state, cases):
    """What stands between the facts and the rates: what was compared, the tests, what is missing, and the goals."""
    return [PRECISIONS, "", graphs(cases), "", f"A process a run; {gpu_compare.QUALIFIERS} qualifying run of everybody, then "
            f"{state.section('compare').get('rounds', 0)} interleaved rounds of Tandem in both, the best eager peer and the best compiled one. Rates are "
            "medians. Peers are channels_last, with cudnn.benchmark and fused SGD, and wait for the GPU at both ends of the "
            "measurement only.", "", gpu_choosing.told(state), "", *tests(state),
            *listed("Failed:", state.section("failed").values()),
            *listed("Left out, because the time was spent:", state.section("left out").values()),
            *gpu_goals.section(state), "## Rates", ""]


def facts(call):
    """Of machine, programs and GPU; those of the first call with a program are kept."""
    found = call.state.section("facts")
    if not found and call.is_built():
        found |= machine.host(call.tandem, machine.physical_cpus(), call.python) | call.gpu | call.program.facts() | \
            machine.inherited(gpu.INHERITED) | {"other programs on the GPU": ", ".join(gpu.others()) or "none"}
        call.state.save()
    return found or {"time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
                     "tandem": "not built"} | call.gpu


def profiles(state):
    """What the GPU does in a step, as Tandem's profiles print it, or why one has nothing."""
    lines = []
    for name, found in state.section("profile").items():
        shown = [f"The step as a CUDA graph: {found['graph']}.", "", "```", found["tables"], "```"] \
            if "tables" in found else [f"failed: {found['error']}"]
        lines += ["", f"## What the GPU does in a step of Tandem: {name}", "", f"`{found['command']}`", "", *shown]
    return "".join(f"{line}\n" for line in lines)


def write(folder, call):
    """DATE-gpu-NAME.md, .json and .jsonl of what was found so far. Returns the headline's lines and DATE-gpu-NAME."""
    known, cases = facts(call), list(call.state.section("compare").get("cases", {}).values())
    cases = [case for case in cases if "main" in case]
    name = f"{known['time'][:10]}-gpu-{re.sub('[^a-z0-9]+', '-', known['gpu'].lower()).strip('-')}"
    title = f"Tandem beside PyTorch on one {known['gpu']}, {known['time'][:10]}"
    folder.mkdir(parents=True, exist_ok=True)
    page = report.markdown(cases, known, title, remarks(call.state, cases)) + profiles(call.state)
    (folder / f"{name}.md").write_text(page)
    (folder / f"{name}.json").write_text(json.dumps({"machine": known, "results": cases}, indent=1) + "\n")
    if call.records.exists():
        (folder / f"{name}.jsonl").write_bytes(call.records.read_bytes())
    return report.headline(cases), name
