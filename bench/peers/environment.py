"""Python environments of pinned packages: created once below the cache folder, from hashes."""
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

THIRD_PARTY = pathlib.Path(__file__).resolve().parents[2] / "third_party"


def cache_folder():
    default = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "tandem"
    return pathlib.Path(os.environ.get("TANDEM_CACHE") or default)


def peers_python():
    return python_of("peers", "PyTorch", "5 GB")


def packages_of(name):
    """The folder of packages of an environment, for another one's interpreter."""
    return str(cache_folder() / name / "lib" / "python3.11" / "site-packages")


def text_of(pins):
    """With the files that it includes."""
    text = pins.read_text()
    return text + "".join(text_of(pins.with_name(name)) for name in re.findall(r"^-r (\S+)$", text, re.MULTILINE))


def python_of(name, what, size):
    """The interpreter of third_party/NAME-requirements.txt's environment, made or completed first when the pins ask."""
    folder, pins = cache_folder() / name, THIRD_PARTY / f"{name}-requirements.txt"
    stamp, wanted = folder / "stamp", hashlib.sha256(text_of(pins).encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return folder / "bin" / "python"
    if sys.version_info[:2] != (3, 11) and not (folder / "bin" / "python").exists():
        sys.exit(f"{name}: this is Python {sys.version_info[0]}.{sys.version_info[1]}; {pins.name} pins wheels of Python 3.11")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.parent / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        print(f"{name}: installing {what} into {folder} (about {size})", file=sys.stderr)
        install(folder, pins)
        stamp.write_text(wanted)
    return folder / "bin" / "python"


def install(folder, pins):
    """Wheels are kept beside the environment until it is complete, so that whoever was ended goes on with them."""
    python, wheels = folder / "bin" / "python", folder.with_name(f"{folder.name}.wheels")
    if not python.with_name("pip").exists():
        run([sys.executable, "-m", "venv", str(folder)])
    run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"--cache-dir={wheels}",
         "--no-deps", "--only-binary=:all:", "--require-hashes", "-r", str(pins)])
    shutil.rmtree(wheels, ignore_errors=True)


def run(command):
    done = subprocess.run(command, stdout=sys.stderr)
    if done.returncode:
        sys.exit(f"{pathlib.Path(command[0]).name}: failed with exit {done.returncode}: {' '.join(command)}")
