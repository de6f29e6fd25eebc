"""Record which functions of bayeskit four calls walk through, and write it as a page.

Make the page anew from the root of the project with ``python -m docs.developer.walks``.
"""

import contextlib
import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any, NamedTuple

import bayeskit

HOME = Path(bayeskit.__file__).parent
PAGE = Path(__file__).parent / "walks.md"
INSIDE = ("<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>", "<lambda>")
GENERATOR = 0x20


class Step(NamedTuple):
    """A function, where a walk came to it first."""

    depth: int
    name: str
    file: str


class Walk:
    """The functions of bayeskit that a call runs, in the order of their first call, and who calls whom."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.calls: dict[tuple[str, str], tuple[str, str]] = {}  # files → the first functions that call each other
        self._seen: set[CodeType] = set()

    def record(self, call: Callable[[], Any]) -> None:
        """Run the call once, for imports and caches, and once more to watch it."""
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            call()
            sys.setprofile(self._watch)
            try:
                call()
            finally:
                sys.setprofile(None)

    def _watch(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or not _is_ours(code) or code.co_name in INSIDE:
            return
        caller = frame.f_back
        while caller is not None and caller.f_code.co_name in INSIDE and _is_ours(caller.f_code):
            caller = caller.f_back
        if code not in self._seen:
            self._seen.add(code)
            self.steps.append(Step(_depth(frame), code.co_qualname, _file(code)))
        if caller is not None and _is_ours(caller.f_code) and not _was_passed(frame, caller):
            pair = _file(caller.f_code), _file(code)
            self.calls.setdefault(pair, (caller.f_code.co_qualname, code.co_qualname))

    @property
    def files(self) -> set[str]:
        """The files that the functions are in."""
        return {step.file for step in self.steps}

    @property
    def back_and_forth(self) -> list[tuple[str, str]]:
        """Pairs of files that call each other, other than by what was passed as an argument."""
        return sorted((a, b) for a, b in self.calls if a < b and (b, a) in self.calls)


def _is_ours(code: CodeType) -> bool:
    return code.co_filename.startswith(str(HOME)) and code.co_name != "<module>"


def _file(code: CodeType) -> str:
    return Path(code.co_filename).relative_to(HOME).as_posix()


def _depth(frame: FrameType) -> int:
    depth, above = 0, frame.f_back
    while above is not None:
        depth += _is_ours(above.f_code) and above.f_code.co_name not in INSIDE
        above = above.f_back
    return depth


def _was_passed(frame: FrameType, caller: FrameType) -> bool:
    """Whether the caller got the function, or the generator that goes on, as an argument, or as part of one."""
    if frame.f_code.co_flags & GENERATOR and frame.f_lasti > 0:
        return True
    names = caller.f_code.co_varnames[: caller.f_code.co_argcount + caller.f_code.co_kwonlyargcount]
    given = [caller.f_locals.get(name) for name in names]
    given += [value for each in given if hasattr(each, "__dict__") for value in vars(each).values()]
    held = (each.__func__ if isinstance(each, MethodType) else each for each in given)
    return any(isinstance(each, FunctionType) and each.__code__ is frame.f_code for each in held)


# -- the four walks ----------------------------------------------------------------------------------------------------


def _heart() -> dict[str, list[Any]]:
    return bayeskit.datasets.load_heart()


def fit_naive_bayes() -> None:
    """Fit NaiveBayes on a table of text and numbers."""
    bayeskit.NaiveBayes().fit(_heart(), target="disease")


def fit_auto_bayes() -> None:
    """Fit AutoBayes on the same table."""
    bayeskit.AutoBayes().fit(_heart(), target="disease")


def learn_structure() -> None:
    """Learn the arcs of a network by hill climbing from 200 rows."""
    rows = bayeskit.datasets.load_asia().sample(200, random_state=0)
    bayeskit.learn_structure(rows)


def train_by_command() -> None:
    """Compare two classifiers, fit the better and write model and report, by ``bayeskit train``."""
    from bayeskit.cli.app import run

    with tempfile.TemporaryDirectory() as folder:
        source, out = HOME / "datasets/data/heart.csv", Path(folder) / "disease.bayes"
        run(["train", str(source), "--target", "disease", "-m", "NaiveBayes", "-m", "TAN", "--output", str(out)])
        assert out.exists()


WALKS = {
    "`NaiveBayes().fit(table, target=…)`": fit_naive_bayes,
    "`AutoBayes().fit(table, target=…)`": fit_auto_bayes,
    "`learn_structure(table)`": learn_structure,
    "`bayeskit train heart.csv --target disease`": train_by_command,
}

# Pairs of files that call each other all the same, and why.
BY_INHERITANCE = "a class and its base: the base asks the class for what differs, the class uses what it inherits"
REASONS = {
    ("classify/auto/model.py", "learn/learner.py"): BY_INHERITANCE,
    ("classify/auto/model.py", "learn/model.py"): BY_INHERITANCE,
    ("classify/base.py", "classify/semi_naive.py"): BY_INHERITANCE,
    ("classify/naive_bayes.py", "classify/naive_classifier.py"): BY_INHERITANCE,
    ("classify/semi_naive.py", "classify/tan.py"): BY_INHERITANCE,
    ("classify/semi_naive.py", "learn/learner.py"): BY_INHERITANCE,
    ("learn/learner.py", "learn/model.py"): BY_INHERITANCE,
    ("network/learn/methods/best.py", "network/learn/methods/order.py"): BY_INHERITANCE,
    ("kinds/infer.py", "table/read.py"): (
        "a source reads a column when it is first asked for, by a function that the inference of kinds gave it"
    ),
    ("table/conversions.py", "table/schema.py"): (
        "conversions are a field of a schema, which joins those of two; a cell is converted by the kind of its variable"
    ),
    ("table/problems/read_table.py", "table/read_result.py"): (
        "a table finds its problems when it is asked for them, and the checks look at its columns"
    ),
}
SHOWN = 9  # deeper functions are counted and not listed

HEAD = """# Four walks through the library

Which functions a call runs, recorded by a tracer (`docs/developer/walks.py`) and checked by a test; make this page anew
with `python -m docs.developer.walks`. A function stands where the walk comes to it first, indented by its depth, with
its file. Imports, caches that are filled and functions of other packages are left out, and the deepest functions are
counted only.

Two files call each other *back and forth* if, in one walk, a function of the first calls one of the second directly and
a function of the second calls one of the first, and neither call is of a function that the caller was given as an
argument, or as a part of one.
"""


def recorded() -> dict[str, Walk]:
    """Return the walks by their titles."""
    walks = {title: Walk() for title in WALKS}
    for title, walk in walks.items():
        walk.record(WALKS[title])
    return walks


def page(walks: dict[str, Walk]) -> str:
    """Return the page."""
    parts = [HEAD, "| walk | functions | files | greatest depth | pairs back and forth |", "|---|---|---|---|---|"]
    for title, walk in walks.items():
        numbers = [len(walk.steps), len(walk.files), max(step.depth for step in walk.steps), len(walk.back_and_forth)]
        parts.append(f"| {title} | {' | '.join(map(str, numbers))} |")
    for title, walk in walks.items():
        parts += ["", f"## {title}", "", str(WALKS[title].__doc__), ""]
        for a, b in walk.back_and_forth:
            (from_a, to_b), (from_b, to_a) = walk.calls[a, b], walk.calls[b, a]
            parts.append(f"- `{a}` and `{b}`: {REASONS.get((a, b), '(no reason yet)')}.")
            parts.append(f"  `{from_a}` calls `{to_b}`, and `{from_b}` calls `{to_a}`.")
        if walk.back_and_forth:
            parts.append("")
        shown = [step for step in walk.steps if step.depth <= SHOWN]
        width = max(2 * step.depth + len(step.name) for step in shown)
        parts += ["```text", *((" " * 2 * s.depth + s.name).ljust(width + 2) + s.file for s in shown), "```"]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(recorded()), encoding="utf-8")
