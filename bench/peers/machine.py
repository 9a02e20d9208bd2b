"""The machine of a comparison: the cores to use, and the facts that belong beside its numbers."""
import datetime
import json
import os
import pathlib
import platform
import subprocess

# Environment variables with these beginnings change rates; contenders inherit them.
INHERITED = ("OMP_", "KMP_", "GOMP_", "MKL_", "DNNL_", "ONEDNN_", "ATEN_", "TF_ENABLE_ONEDNN", "MALLOC_", "LD_PRELOAD")
VERSIONS = ("import json, platform; from importlib import metadata as m; "
            "print(json.dumps([platform.python_version(), {d.name.lower(): d.version for d in m.distributions()}]))")


def physical_cpus():
    """One hardware thread of each physical core that this process may use."""
    cores = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        siblings = pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        cores.setdefault(siblings.read_text() if siblings.exists() else cpu, cpu)
    return list(cores.values())


def output(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True).stdout.strip()


def versions(python, *packages):
    """Of an interpreter and of the first of the packages that it has."""
    version, found = json.loads(output(python, "-c", VERSIONS))
    return f"{next((f'{name} {found[name]}' for name in packages if name in found), 'unknown')}, Python {version}"


def commit_of(folder):
    done = subprocess.run(["git", "-C", str(folder), "rev-parse", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else "unknown commit"


def load():
    return round(os.getloadavg()[0], 2)


class StealClock:
    """Share of CPU time that the host of a virtual machine took away, since the clock was made."""

    def __init__(self):
        self.start = self.ticks()

    @staticmethod
    def ticks():
        """Steal and total of /proc/stat; guest time, behind steal, is part of user time already."""
        fields = [int(field) for field in pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
        return fields[7], sum(fields)

    def percent(self):
        steal, total = (now - then for now, then in zip(self.ticks(), self.start))
        return round(100 * steal / total, 2) if total else 0.0


def host(tandem, cpus, python):
    model = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return {"time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "cpu": model[0] if model else platform.processor(), "physical cores": len(physical_cpus()),
            "cpus used": ",".join(map(str, cpus)), "kernel": platform.release(), "libc": "-".join(platform.libc_ver()),
            "tandem": output(tandem, "--version"), "pytorch": versions(python, "torch")}


def inherited(beginnings=INHERITED):
    found = [f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith(beginnings)]
    return {"environment variables": " ".join(found) or "none that change rates", "load before": load()}


def facts(options, cpus, python):
    found = host(options.tandem, cpus, python)
    if options.tf_cnn_benchmarks:
        found["tensorflow"] = versions(options.tf_python, "tensorflow", "tensorflow-cpu", "intel-tensorflow")
        found["tf_cnn_benchmarks"] = commit_of(options.tf_cnn_benchmarks)
    return found | {"tuned allocator": f"GLIBC_TUNABLES={options.tunables}"} | inherited()
