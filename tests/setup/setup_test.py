#!/usr/bin/env python3
"""What `make bench` builds for, with programs that stand in for the driver's and the toolkit's, and nothing built.
Usage: setup_test.py [unittest arguments]"""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ("bash", "cat", "dirname", "make", "nproc", "sed", "sh", "sort", "tail", "xargs")
PROC = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  {}  Release Build\nGCC version: gcc version 12.2.0\n"


class SetupTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        for tool in TOOLS:   # and no driver's program that this machine may have
            (self.bin / tool).symlink_to(shutil.which(tool))

    def program(self, name, script):
        path = self.bin / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    def smi(self, *gpus):
        """GPUs as "DRIVER, CAPABILITY"."""
        self.program("nvidia-smi", "\n".join(f"echo '{gpu}'" for gpu in gpus))

    def call(self, *command, **variables):
        given = {name: value for name, value in os.environ.items()
                 if not name.startswith("MAKE") and name not in ("MFLAGS", "PRESET", "CUDACXX", "TANDEM_LIBTORCH")}
        given |= {"PATH": str(self.bin), "TANDEM_DRIVER_FOLDER": str(self.folder),
                  "TANDEM_CACHE": str(self.folder / "cache")} | variables
        return subprocess.run(command, cwd=ROOT, env=given, capture_output=True, text=True)

    def expect_preset(self, preset, said, **variables):
        done = self.call("scripts/setup", "--print-preset", **variables)
        self.assertEqual((done.returncode, done.stdout.strip()), (0, preset), done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1 if said else 0, done.stderr)
        self.assertIn(said, done.stderr)

    def test_a_driver_that_serves_asks_for_the_cuda_preset(self):
        self.expect_preset("release", "")
        self.smi("580.65.06, 9.0", "580.65.06, 6.1")
        self.expect_preset("cuda", "")
        self.smi("1000.10, 12.0")
        self.expect_preset("cuda", "")

    def test_too_old_is_told_in_one_line_and_left_alone(self):
        self.smi("550.54.15, 9.0")
        self.expect_preset("release", "the NVIDIA driver 550.54.15 is too old: CUDA 13, which libtorch is built with, "
                                      "needs 580 or newer; using the CPU")
        self.smi("580.65.06, 6.1", "580.65.06, 5.2")
        least = re.search(r'CMAKE_CUDA_ARCHITECTURES "(\d+)(\d)', (ROOT / "CMakeLists.txt").read_text())
        self.expect_preset("release", f"the GPU has compute capability 6.1, {'.'.join(least.groups())} is needed "
                                      "(docs/GPUS.md); using the CPU")
        self.program("nvidia-smi", "echo 'NVIDIA-SMI has failed'; exit 9")
        self.expect_preset("release", "nvidia-smi finds no GPU; using the CPU")
        self.program("nvidia-smi", 'case $* in *compute_cap*) echo "no such field"; exit 2;; esac; echo 470.1')
        self.expect_preset("release", "the NVIDIA driver 470.1 is too old")

    def test_without_nvidia_smi_the_driver_says_its_version(self):
        (self.folder / "version").write_text(PROC.format("580.95.05"))
        self.expect_preset("cuda", "")
        (self.folder / "version").write_text(PROC.format("535.1"))
        self.expect_preset("release", "driver 535.1 is too old")

    def test_a_libtorch_of_ones_own_serves_what_it_was_built_for(self):
        self.smi("470.82.01, 3.7")
        library = self.folder / "libtorch/lib/libtorch_cuda.so"
        own = str(self.folder / "libtorch")
        self.expect_preset("release", "TANDEM_LIBTORCH has no libtorch_cuda.so; using the CPU", TANDEM_LIBTORCH=own)
        library.parent.mkdir(parents=True)
        library.touch()
        self.expect_preset("cuda", "", TANDEM_LIBTORCH=own)

    def test_make_bench_builds_and_runs_what_the_machine_has(self):
        def recipe(*arguments):
            done = self.call("make", "-n", *arguments)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout

        def expect(preset, setup, text):
            self.assertIn(f"scripts/setup{setup}\n", text)
            self.assertIn(f"cmake --build --preset {preset} --target tandem", text)
            self.assertIn(f"build/{preset}/tandem bench", text)

        expect("release", "", recipe("bench"))
        self.smi("580.65.06, 9.0")
        expect("cuda", " --cuda", recipe("bench"))
        expect("release", "", recipe("bench", "PRESET=release"))
        self.assertNotIn("cuda", recipe("bench", "PRESET=release"))
        self.assertIn("scripts/setup --cuda", recipe("setup"))
        self.assertNotIn("cuda", recipe("build"))
        self.smi("550.1, 9.0")
        expect("release", "", recipe("bench"))
        expect("cuda", " --cuda", recipe("bench", "PRESET=cuda"))

    def test_an_installed_compiler_of_the_pinned_major_version_is_used(self):
        def compiler(**variables):
            return self.call("scripts/setup", "--print-nvcc", **variables).stdout.strip()

        pinned = re.search(r"nvidia-cuda-nvcc==(\d+)\.", (ROOT / "third_party/nvcc-requirements.txt").read_text())[1]
        installed = self.program("nvcc", f"echo 'Cuda compilation tools, release {pinned}.0, V{pinned}.0.88'")
        self.assertEqual(compiler(), str(installed))
        self.program("nvcc", "echo 'Cuda compilation tools, release 12.8, V12.8.93'")
        self.assertNotEqual(compiler(), str(installed))
        self.assertEqual(compiler(CUDACXX="/opt/nvcc"), "/opt/nvcc")

    def test_packages_that_are_there_by_other_means_are_not_asked_for(self):
        own = self.folder / "libtorch"
        for file in ("lib/libtorch_cpu.so", "include/ATen/ATen.h"):
            (own / file).parent.mkdir(parents=True)
            (own / file).touch()

        def setup(**variables):
            return self.call("scripts/setup", TANDEM_LIBTORCH=str(own), TANDEM_ONEDNN="OFF", **variables)

        done = setup(TANDEM_PACKAGES="OFF")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("TANDEM_PACKAGES=OFF", setup().stderr)
        done = setup(TANDEM_PACKAGES="off")
        self.assertEqual((done.returncode, done.stderr), (2, "setup: TANDEM_PACKAGES=off: valid: OFF, or unset\n"))

    def test_the_headers_of_cudnns_frontend_lie_below_the_cache_or_where_they_are_said_to(self):
        def folder(**variables):
            return self.call("scripts/setup", "--print-cudnn-frontend", **variables).stdout.strip()

        pins = (ROOT / "third_party/cudnn-frontend-requirements.txt").read_text()
        start = re.search(r"--hash=sha256:(\w{12})", pins)[1]
        self.assertEqual(folder(TANDEM_CUDNN_FRONTEND=""), str(self.folder / "cache" / f"cudnn-frontend-{start}"))
        self.assertEqual(folder(TANDEM_CUDNN_FRONTEND="/opt/frontend"), "/opt/frontend")
        self.assertEqual(folder(TANDEM_CUDNN_FRONTEND="OFF"), "OFF")

    def test_libraries_pinned_twice_are_pinned_alike(self):
        pins = {}
        for file in sorted((ROOT / "third_party").glob("*-requirements.txt")):
            text = file.read_text()
            own = re.findall(r"^# Own version: ([\w-]+), because ", text, re.M)
            for name, version, digest in re.findall(r"^([\w-]+)==(\S+) \\\n +--hash=sha256:(\w+)$", text, re.M):
                if name in own:
                    continue
                self.assertEqual(pins.setdefault(name.lower(), (version, digest)), (version, digest), f"{file}: {name}")
        for name in ("torch", "nvidia-cuda-runtime", "nvidia-nccl-cu13", "nvidia-cuda-nvcc", "nvidia-cudnn-frontend"):
            self.assertIn(name, pins)


unittest.main()
