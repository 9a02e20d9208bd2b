"""The peers' own Python environment: created once below the cache folder, from hashes."""
import fcntl
import hashlib
import os
import pathlib
import subprocess
import sys

PINS = pathlib.Path(__file__).resolve().parents[2] / "third_party" / "peers-requirements.txt"


def cache_folder():
    default = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "tandem"
    return pathlib.Path(os.environ.get("TANDEM_CACHE") or default)


def peers_python():
    """The interpreter of the environment, which is made or completed first when the pins ask for it."""
    folder = cache_folder() / "peers"
    stamp, pins = folder / "stamp", hashlib.sha256(PINS.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == pins:
        return folder / "bin" / "python"
    if sys.version_info[:2] != (3, 11) and not (folder / "bin" / "python").exists():
        sys.exit(f"peers: this is Python {sys.version_info[0]}.{sys.version_info[1]}; {PINS.name} pins wheels of Python 3.11")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.parent / "peers.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        install(folder)
        stamp.write_text(pins)
    return folder / "bin" / "python"


def install(folder):
    print(f"peers: installing PyTorch into {folder} (about 5 GB)", file=sys.stderr)
    python = folder / "bin" / "python"
    if not python.exists():
        run([sys.executable, "-m", "venv", str(folder)])
    run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-cache-dir",
         "--no-deps", "--only-binary=:all:", "--require-hashes", "-r", str(PINS)])


def run(command):
    done = subprocess.run(command, stdout=sys.stderr)
    if done.returncode:
        sys.exit(f"peers: failed with exit {done.returncode}: {' '.join(command)}")
