"""The command line of scripts/gpu-check."""
import argparse
import pathlib

import gpu_contenders
from gpu_call import PAGE_S
from gpu_program import ROOT

CASES = [gpu_contenders.case_name(run) for run in gpu_contenders.runs()]


class Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, f"gpu-check: {message}\n")


def folder(text):
    return pathlib.Path(text).absolute()


def listed(text):
    return list(dict.fromkeys(text.split(",")))


def parser(description, sections):
    found = Parser(prog="gpu-check", description=description, formatter_class=argparse.RawDescriptionHelpFormatter,
                   allow_abbrev=False)
    found.add_argument("sections", nargs="*", metavar="SECTION", help=f"{', '.join(sections)} (default all)")
    found.add_argument("--budget", type=float, default=540, metavar="S", help="seconds of this call (default 540); "
                       f"{PAGE_S} of them are kept for the page")
    found.add_argument("--cases", type=listed, default=[""], metavar="CASE,...", help="what `compare` runs (default all): "
                       f"names or the beginnings of names. Valid: {', '.join(CASES)}")
    found.add_argument("--modes", type=listed, default=gpu_contenders.MODES, metavar="MODE,...", help="PyTorch's: eager, and "
                       "those that its torch.compile lists, default's name being compile; or "
                       f"{gpu_contenders.ALL_MODES} (default {','.join(gpu_contenders.MODES)})")
    found.add_argument("--rounds", type=int, default=5, metavar="N", help="of `compare` behind the "
                       "qualifying run (default 5)")
    add_places(found)
    return found


def add_places(found):
    found.add_argument("--bundle", type=folder, metavar="FOLDER", help="a folder of scripts/bundle, made with --preset=cuda "
                       "--tests: nothing is built or installed")
    found.add_argument("--python", help="interpreter with PyTorch 2.11 for CUDA and torchvision (default: installed as "
                       "bench/peers does; with --bundle the one that runs this)")
    found.add_argument("--build", type=folder, default=ROOT / "build/cuda", metavar="FOLDER",
                       help="build folder (default build/cuda)")
    found.add_argument("--state", type=folder, default=ROOT / "build/gpu-check", metavar="FOLDER",
                       help="where the sections leave what they found (default build/gpu-check)")
    found.add_argument("--out", type=folder, metavar="FOLDER", help="for the page and all that a later call needs; at most "
                       "8 files (default: the page alone, to docs/results)")
    found.add_argument("--state-from", type=folder, metavar="FOLDER", help="the --out of an earlier call, also one on another "
                       "machine: what it found is taken up, in place of what --state has")
    found.add_argument("--fresh", action="store_true", help="forget what earlier calls found, but for the times in "
                       "measured.tsv")


def parse(description, sections):
    reader = parser(description, sections)
    options = reader.parse_args()
    for name in options.sections:
        if name not in sections:
            reader.error(f"unknown section '{name}'; valid: {', '.join(sections)}")
    for text in options.cases:
        if not any(name.startswith(text) for name in CASES):
            reader.error(f"--cases: unknown '{text}'; valid: {', '.join(CASES)}, or the beginning of one")
    if options.rounds < 1:
        reader.error(f"--rounds={options.rounds}: at least 1")
    if options.budget <= PAGE_S:
        reader.error(f"--budget={options.budget:g}: more than {PAGE_S} seconds, which are kept for the page")
    if options.bundle and not (options.bundle / "bin/tandem").exists():
        reader.error(f"--bundle={options.bundle}: no bundle is there; make one: scripts/bundle FOLDER --preset=cuda --tests")
    if options.state_from and not (options.state_from / "state.json").exists():
        reader.error(f"--state-from={options.state_from}: has no state.json; name the --out of an earlier call")
    return options
