"""Python environments of what Tandem is compared with: each created once below the cache folder, from hashes."""
import fcntl
import hashlib
import os
import pathlib
import subprocess
import sys

THIRD_PARTY = pathlib.Path(__file__).resolve().parents[2] / "third_party"
SIZES = {"peers": "PyTorch, about 5 GB", "traces": "Perfetto's schema, 15 MB"}


def cache_folder():
    default = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "tandem"
    return pathlib.Path(os.environ.get("TANDEM_CACHE") or default)


def python_with(name):
    """The interpreter of the environment of third_party/NAME-requirements.txt, which is made or completed first when
    the pins ask for it."""
    pinned = THIRD_PARTY / f"{name}-requirements.txt"
    folder = cache_folder() / name
    stamp, pins = folder / "stamp", hashlib.sha256(pinned.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == pins:
        return folder / "bin" / "python"
    if sys.version_info[:2] != (3, 11) and not (folder / "bin" / "python").exists():
        sys.exit(f"{name}: this is Python {sys.version_info[0]}.{sys.version_info[1]}; {pinned.name} pins wheels of Python 3.11")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.parent / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        install(name, pinned, folder)
        stamp.write_text(pins)
    return folder / "bin" / "python"


def install(name, pinned, folder):
    print(f"{name}: installing {SIZES[name]}, into {folder}", file=sys.stderr)
    python = folder / "bin" / "python"
    if not python.exists():
        run(name, [sys.executable, "-m", "venv", str(folder)])
    run(name, [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-cache-dir",
               "--no-deps", "--only-binary=:all:", "--require-hashes", "-r", str(pinned)])


def run(name, command):
    done = subprocess.run(command, stdout=sys.stderr)
    if done.returncode:
        sys.exit(f"{name}: failed with exit {done.returncode}: {' '.join(command)}")
