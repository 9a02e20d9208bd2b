"""A folder of programs that stand in for the GPU's, and scripts/gpu-check called with them."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PEERS = ROOT / "bench/peers"
sys.path.insert(0, str(PEERS))

KEPT = 15   # seconds of a budget that are kept for the page
NAMES = ("nvidia-smi", "nvcc", "cmake", "ctest", "python", "test_device", "test_kernels", "test_run")
PAGE = "*-gpu-nvidia-h100-80gb-hbm3"


def budget(seconds):
    """That the sections before the page have."""
    return f"--budget={seconds + KEPT}"


class StandIns(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        for name in NAMES:
            shutil.copy(HERE / "stand_in", self.bin / name)
        # A setup for CUDA with nothing to do: libraries that are the user's own.
        for file in ("libtorch/lib/libtorch_cuda.so", "libtorch/include/ATen/ATen.h", "frontend/include/cudnn_frontend.h"):
            (self.folder / file).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / file).touch()

    def check(self, *arguments, path=None, **variables):
        given = os.environ | {"PATH": path or f"{self.bin}:{os.environ['PATH']}", "STAND_IN_LOG": str(self.folder / "log"),
                              "CUDACXX": str(self.bin / "nvcc"), "TANDEM_ONEDNN": "OFF", "TANDEM_PACKAGES": "OFF",
                              "TANDEM_CUDNN_FRONTEND": str(self.folder / "frontend"), "CUDA_VISIBLE_DEVICES": "0",
                              "STAND_IN_LIBTORCH": str(self.folder / "libtorch")} | variables
        return subprocess.run([sys.executable, ROOT / "scripts/gpu-check", f"--python={self.bin / 'python'}",
                               f"--build={self.folder / 'build'}", f"--state={self.folder / 'state'}",
                               f"--out={self.folder / 'out'}", *arguments], env=given, capture_output=True, text=True)

    def log(self, *parts, without=None):
        """The calls whose line has all of the parts."""
        lines = (self.folder / "log").read_text().splitlines() if (self.folder / "log").exists() else []
        return [line for line in lines if all(part in line for part in parts) and not (without and without in line)]

    def page(self, ending="md"):
        found = list((self.folder / "out").glob(f"{PAGE}.{ending}"))
        self.assertEqual(len(found), 1, found)
        return found[0].read_text()

    def kept(self, folder="state"):
        return json.loads((self.folder / folder / "state.json").read_text())

    def expect_line(self, done, code, *parts):
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)
