"""``bayeskit doctor``: what is installed, and what each missing package would give."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import typer


class Extra(NamedTuple):
    """An extra of the package: the modules that it brings, and what they are for."""

    modules: tuple[str, ...]
    what: str


EXTRAS = {
    "frames": Extra(("pandas", "polars", "pyarrow"), "frames, Parquet, Feather, and files read piece by piece"),
    "plot": Extra(("matplotlib",), "pictures, and the plots of a report"),
    "excel": Extra(("openpyxl",), "Excel workbooks"),
    "graph": Extra(("networkx",), "graphs of networkx"),
    "studio": Extra(("starlette", "uvicorn"), "the local page"),
    "notebook": Extra(("anywidget",), "explore() in a notebook"),
    "sql": Extra(("duckdb", "adbc_driver_manager"), "counting inside DuckDB and PostgreSQL"),
    "onnx": Extra(("onnx",), "models as ONNX"),
    "dask": Extra(("dask", "distributed"), "counting on Dask"),
    "spark": Extra(("pyspark",), "counting on Spark, which also needs Java"),
}


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Show what is installed, and what each missing extra would give.

    Versions, threads, the instructions of the processor and a font for Chinese labels, for a report of a problem or
    before a first run. Nothing is changed.

    Example: bayeskit doctor
    """
    from bayeskit.cli import screen

    facts, extras = _facts(), _extras()
    if as_json:
        screen.say_json({"facts": facts, "extras": extras})
        return
    screen.table(("what", "value"), list(facts.items()))
    screen.say()
    rows = [
        (name, EXTRAS[name].what, ", ".join(each) if (each := extras[name]["missing"]) else "installed")
        for name in EXTRAS
    ]
    screen.table(("extra", "gives", "missing"), rows)
    lacking = [name for name in EXTRAS if extras[name]["missing"]]
    if lacking:
        screen.say()
        screen.say(f"Add what you need, such as: pip install 'bayeskit[{lacking[0]}]'")


def _facts() -> dict[str, str]:
    """Return versions and what the machine offers."""
    import platform
    from importlib.metadata import version

    from bayeskit import __version__
    from bayeskit._kernels.threads import n_threads
    from bayeskit.language import get_language

    return {
        "bayeskit": __version__,
        "Python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "scipy", "scikit-learn", "narwhals")},
        "machine": f"{platform.system()} {platform.machine()}",
        "threads": str(n_threads()),
        "instructions": _instructions(),
        "language": get_language(),
        "font for Chinese": _chinese_font(),
    }


def _instructions() -> str:
    """Return the version of the kernels that the processor runs."""
    from bayeskit._kernels._native import instruction_set

    return instruction_set()


def _chinese_font() -> str:
    """Return a font that draws Chinese labels in pictures, looked for anew."""
    try:
        from bayeskit.plot.canvas import _family_with
    except ImportError:
        return "unknown (no matplotlib)"
    return _family_with(frozenset("西瓜")) or "none; pictures show boxes in place of Chinese labels"


def _extras() -> dict[str, dict[str, list[str]]]:
    """Return for each extra the modules that are not there."""
    from importlib.util import find_spec

    return {
        name: {"missing": [each for each in extra.modules if find_spec(each) is None]} for name, extra in EXTRAS.items()
    }
