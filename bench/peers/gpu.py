"""The NVIDIA GPU of a comparison: whether it can be used at all, and the facts that belong beside its numbers."""
import os
import pathlib
import shutil
import subprocess

import machine

SETUP = pathlib.Path(__file__).resolve().parents[2] / "scripts/setup"
QUERIED = {"gpu": "name", "driver": "driver_version", "gpu memory": "memory.total", "compute capability": "compute_cap",
           "greatest SM clock": "clocks.max.sm", "power limit": "power.limit"}
LEAST_CAPABILITY = (8, 0)
# Environment variables with these beginnings change rates on a GPU.
INHERITED = ("CUDA_", "CUDNN_", "CUBLAS_", "NVIDIA_", "NCCL_", "TORCH", "PYTORCH_", "TRITON_", "OMP_", "LD_PRELOAD")


class Unusable(Exception):
    """Why nothing can be measured here, and what to do, in one line."""


def smi(*arguments):
    """nvidia-smi's answer, as rows of cells."""
    program = shutil.which("nvidia-smi")
    if not program:
        raise Unusable("no NVIDIA driver here: nvidia-smi is not in PATH; install the driver, or run this where a GPU is")
    done = subprocess.run([program, *arguments, "--format=csv,noheader"], capture_output=True, text=True)
    if done.returncode:
        said = (done.stdout + done.stderr).strip().splitlines()
        raise Unusable(f"the NVIDIA driver finds no GPU: nvidia-smi says: {said[-1] if said else 'nothing'}; "
                       "see that a GPU is there and its driver loaded")
    return [[cell.strip() for cell in line.split(",")] for line in done.stdout.splitlines() if line.strip()]


def compiler():
    """nvcc: CUDACXX, an installed one that fits, or the one that scripts/setup --cuda brings."""
    return subprocess.run([SETUP, "--print-nvcc"], capture_output=True, text=True, check=True).stdout.strip()


def compiler_version():
    try:
        lines = machine.output(compiler(), "--version").splitlines()
    except (OSError, subprocess.CalledProcessError):
        lines = []
    return lines[-1] if lines else "none here"


def number_as_nvidia_smi():
    """Lets CUDA number the GPUs of all programs that are started as nvidia-smi does, not by how fast they are."""
    os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"


def first(rows):
    """Of rows that begin with number and UUID, that of cuda:0."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0].strip()
    for index, uuid, *cells in rows:
        if visible == index or (visible.startswith("GPU-") and uuid.startswith(visible)):
            return cells
    raise Unusable(f"CUDA_VISIBLE_DEVICES={os.environ.get('CUDA_VISIBLE_DEVICES', '')}: nvidia-smi lists no such GPU")


def facts():
    """Of cuda:0. Raises Unusable where there is none that Tandem serves."""
    rows = smi(f"--query-gpu=index,uuid,{','.join(QUERIED.values())}")
    if not rows:
        raise Unusable("the NVIDIA driver lists no GPU; see that one is there")
    found = dict(zip(QUERIED, first(rows)))
    capability = tuple(int(part) for part in found["compute capability"].split("."))
    if capability < LEAST_CAPABILITY:
        raise Unusable(f"{found['gpu']} has compute capability {found['compute capability']}; Tandem's kernels need "
                       f"{'.'.join(map(str, LEAST_CAPABILITY))} or more")
    return found | {"gpus": len(rows)}


def others():
    """Programs that compute on the GPUs now."""
    return [" ".join(row) for row in smi("--query-compute-apps=pid,process_name")]
