"""What programs of PyTorch here share: a process for each core, and what torch.compile needs."""
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time


def missing_for_compile():
    """What torch.compile needs and this machine lacks."""
    compiler, headers = os.environ.get("CXX", "g++"), pathlib.Path(sysconfig.get_paths()["include"])
    missing = [] if shutil.which(compiler) else [f"the C++ compiler {compiler} (Debian: g++; or set CXX)"]
    if not (headers / "Python.h").exists():
        missing.append(f"Python.h of Python {platform.python_version()} (Debian: python3-dev)")
    return " and ".join(missing)


def entered(options, pinned=True):
    """Prepares a process of `options`, before torch is loaded: its OpenMP threads inherit the mask of CPUs.

    Returns None in a process that trains. In one that started such processes it returns their exit code."""
    if options.mode != "eager" and missing_for_compile():
        sys.exit(f"torch.compile lacks {missing_for_compile()}")
    cpus = [int(cpu) for cpu in options.cpus.split(",")]
    if options.processes > 1 and options.rank is None:
        return start_processes(options, cpus)
    if pinned:
        os.sched_setaffinity(0, cpus)
    return None


def start_processes(options, cpus):
    """Processes on the CPUs in turn; the first one's result is printed, any failure ends all."""
    with tempfile.TemporaryDirectory() as folder:
        ranks = []
        for rank in range(options.processes):
            command = [sys.executable, *sys.argv, f"--cpus={cpus[rank % len(cpus)]}", f"--rank={rank}",
                       f"--rendezvous={folder}/rendezvous"]
            ranks.append(subprocess.Popen(command, stdout=None if rank == 0 else subprocess.DEVNULL))
        while any(rank.poll() is None for rank in ranks) and not any(rank.poll() for rank in ranks):
            time.sleep(0.05)
        for rank in ranks:
            if rank.poll() is None:
                rank.kill()
        return max(abs(rank.wait()) for rank in ranks)
