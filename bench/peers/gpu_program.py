"""Where Tandem and its tests come from: built from this tree, or taken from a bundle (scripts/bundle)."""
import json
import os
import pathlib
import subprocess
import sys

import environment
import gpu
import gpu_tests
import machine
from sections import Failed, fingerprint

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SOURCES = ["CMakeLists.txt", "CMakePresets.json", "bench/peers", "cmake", "data", "scripts/gpu-check", "scripts/setup",
           "src", "tests", "third_party"]
IN_BUNDLE = ["bin", "launch", "lib/libtorch-version", "tests.json"]
PEERS = ["cifar_resnet.py", "models.py", "pytorch_train.py"]   # what a bundle is measured beside
FIND_LIBTORCH = "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"


def of(options):
    return Bundle(options) if options.bundle else Tree(options)


class Tree:
    def __init__(self, options):
        self.options, self.folder = options, options.build
        self.tandem = options.build / "tandem"

    @property
    def python(self):
        return self.options.python or environment.peers_python()

    def key(self):
        return {"sources": fingerprint(ROOT, SOURCES)}

    def facts(self):
        return {"nvcc": gpu.compiler_version()}

    def make(self, call):
        if not self.options.python:   # within the budget
            call.run("build", [sys.executable, HERE / "compare", "--print-python"])
        libtorch = machine.output(self.python, "-c", FIND_LIBTORCH)
        architecture = call.gpu["compute capability"].replace(".", "") + "-real"
        call.run("build", ["scripts/setup", "--cuda"], TANDEM_LIBTORCH=libtorch)
        call.run("build", ["cmake", "--preset", "cuda", "-B", self.folder, f"-DTANDEM_LIBTORCH={libtorch}",
                           f"-DCMAKE_CUDA_ARCHITECTURES={architecture}", f"-DCMAKE_CUDA_COMPILER={gpu.compiler()}"])
        call.run("build", ["cmake", "--build", self.folder, "--target", "tandem", "gpu_tests", "-j", os.cpu_count()])

    def listed(self):
        return gpu_tests.listed(machine.output("ctest", "--test-dir", self.folder, "-L", "gpu", "--show-only=json-v1"))


class Bundle:
    """Nothing is built or installed. Its launchers take libtorch from the Python that also runs the peers."""

    def __init__(self, options):
        self.folder, self.state = options.bundle, options.state
        self.tandem = self.folder / "tandem"
        self.python = options.python or sys.executable
        os.environ.setdefault("TANDEM_PYTHON", str(self.python))

    def key(self):
        return {"bundle": fingerprint(self.folder, IN_BUNDLE), "peers": fingerprint(HERE, PEERS)}

    def facts(self):
        return {"bundle": self.key()["bundle"][:12]}

    def make(self, call):
        pass

    def listed(self):
        """The tests on this machine: the programs' launchers, and folders that are here."""
        if not (self.folder / "tests.json").exists():
            raise Failed(f"{self.folder} has no tests.json: make the bundle with --tests")
        found = gpu_tests.listed((self.folder / "tests.json").read_text())
        return [test | {"command": [str(self.folder / pathlib.Path(test["command"][0]).name), *test["command"][1:]],
                        "folder": self.state, "variables": test["variables"] | {"TANDEM_CACHE": str(self.state / "tests")}}
                for test in found]


def build(call):
    """Tandem, which must have cuDNN's engines."""
    section = call.state.section("build")
    section["done"] = False
    call.program.make(call)
    done = subprocess.run([call.tandem, "--version", "--json"], capture_output=True, text=True)
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or "nothing").splitlines()[-1]
        raise Failed(f"{call.tandem} --version ended with exit code {done.returncode}: {said}")
    if "convolution-engines" not in json.loads(done.stdout)["libraries"]:
        raise Failed("the program has no convolution engines: cuDNN or its frontend was not found when "
                     f"{call.program.folder} was built")
    section["done"] = True
