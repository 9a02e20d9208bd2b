"""The NVIDIA GPU of a comparison: whether it can be used at all, and the facts that belong beside its numbers."""
import os
import shutil
import subprocess

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
    """nvcc, where CMake finds it too."""
    found = os.environ.get("CUDACXX") or shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if not found:
        raise Unusable("no CUDA compiler here: nvcc is neither in PATH nor in /usr/local/cuda/bin; install the CUDA 13 "
                       "toolkit, or name it by CUDACXX")
    return found


def facts():
    """Of the first GPU. Raises Unusable where there is none that Tandem serves, or nothing to build for it."""
    rows = smi(f"--query-gpu={','.join(QUERIED.values())}")
    if not rows:
        raise Unusable("the NVIDIA driver lists no GPU; see that one is there")
    found = dict(zip(QUERIED, rows[0]))
    capability = tuple(int(part) for part in found["compute capability"].split("."))
    if capability < LEAST_CAPABILITY:
        raise Unusable(f"{found['gpu']} has compute capability {found['compute capability']}; Tandem's kernels need "
                       f"{'.'.join(map(str, LEAST_CAPABILITY))} or more")
    version = subprocess.run([compiler(), "--version"], capture_output=True, text=True).stdout.strip().splitlines()
    return found | {"gpus": len(rows), "nvcc": version[-1] if version else "unknown"}


def others():
    """Programs that compute on the GPUs now."""
    return [" ".join(row) for row in smi("--query-compute-apps=pid,process_name")]
