"""Build wheels that run on Linux systems since 2014, without Docker: ``make wheels``.

    python packaging/wheels.py [--python 3.11 …] [--machine x86_64 …] [--into dist]

g++ compiles and Zig links against glibc 2.17 (``portable_cxx``); for aarch64 Zig does both. There is a wheel for
each version of Python, since texts are read where Python keeps them, which the stable ABI does not allow. auditwheel
checks each, and two builds of one commit have one hash.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
GLIBC = "2.17"
MOST_BYTES = 8_000_000


def main() -> None:
    """Build the wheels that are asked for."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--python", nargs="+", default=["3.11", "3.12", "3.13", "3.14"])
    asked.add_argument("--machine", nargs="+", default=["x86_64", "aarch64"])
    asked.add_argument("--into", type=Path, default=ROOT / "dist")
    options = asked.parse_args()
    options.into.mkdir(exist_ok=True)
    for version in options.python:
        for machine in options.machine:
            made = checked(built(interpreter(version), machine, options.into), machine, options.into)
            print(f"{made.name}: {made.stat().st_size / 1e6:.1f} MB")


def interpreter(version: str) -> str:
    """Return the interpreter of a version: on the PATH, or of pyenv."""
    names = [shutil.which(f"python{version}"), *map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))]
    for name in filter(None, names):
        if subprocess.run([name, "--version"], capture_output=True).returncode == 0:
            return name
    sys.exit(f"there is no Python {version} here; install it, or pass --python with versions that are.")


def built(python: str, machine: str, into: Path) -> Path:
    """Build a wheel for a processor and return its path."""
    with tempfile.TemporaryDirectory() as folder:
        tools = Path(folder) / "tools"
        subprocess.run([python, "-m", "venv", tools], check=True)
        needed = ["scikit-build-core", "nanobind", "ziglang", "cmake", "ninja"]
        subprocess.run([tools / "bin/python", "-m", "pip", "install", "--quiet", *needed], check=True)
        compiler = Path(folder) / "portable_cxx"
        text = (ROOT / "packaging/portable_cxx").read_text(encoding="utf-8")
        compiler.write_text(text.replace("#!/usr/bin/env python3", f"#!{tools}/bin/python", 1), encoding="utf-8")
        compiler.chmod(0o755)
        command = [tools / "bin/python", "-m", "pip", "wheel", ROOT, "--no-deps", "--no-build-isolation"]
        command += ["--wheel-dir", Path(folder) / "wheel", "-C", f"build-dir={folder}/build"]
        subprocess.run([*command, *cross(machine)], check=True, env=environment(python, machine, tools, compiler))
        (wheel,) = (Path(folder) / "wheel").glob("*.whl")
        return Path(shutil.copy(wheel, into / wheel.name))


def cross(machine: str) -> list[str]:
    """Return what CMake is told of a processor that is not this machine's."""
    if machine == os.uname().machine:
        return []
    return ["-C", "cmake.define.CMAKE_SYSTEM_NAME=Linux", "-C", f"cmake.define.CMAKE_SYSTEM_PROCESSOR={machine}"]


def environment(python: str, machine: str, tools: Path, compiler: Path) -> dict[str, str]:
    """Return the environment of a build: the compiler, the target, and one time for all files."""
    when = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    given = {
        "PATH": f"{tools}/bin:{os.environ['PATH']}",
        "CXX": str(compiler),
        "BAYESKIT_TARGET": f"{machine}-linux-gnu",
        "BAYESKIT_GLIBC": GLIBC,
        "SOURCE_DATE_EPOCH": when or "1700000000",
    }
    if machine != os.uname().machine:
        version = subprocess.check_output([python, "-c", "import sys; print(*sys.version_info[:2], sep='')"], text=True)
        given["_PYTHON_HOST_PLATFORM"] = f"linux-{machine}"
        given["SETUPTOOLS_EXT_SUFFIX"] = f".cpython-{version.strip()}-{machine}-linux-gnu.so"
    return os.environ | given


def checked(wheel: Path, machine: str, into: Path) -> Path:
    """Give a wheel its tag by auditwheel, which refuses what older systems lack, and check its size."""
    tag = f"manylinux_{GLIBC.replace('.', '_')}_{machine}"
    subprocess.run(
        [sys.executable, "-m", "auditwheel", "repair", "--plat", tag, "--wheel-dir", into, wheel], check=True
    )
    wheel.unlink()
    made = max(into.glob(f"*{tag}*.whl"), key=lambda path: path.stat().st_mtime)
    if made.stat().st_size > MOST_BYTES:
        sys.exit(f"{made.name} has {made.stat().st_size:,} bytes; at most {MOST_BYTES:,} are meant.")
    return made


if __name__ == "__main__":
    main()
