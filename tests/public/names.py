"""What is public: every name with its signature, as text. ``python tests/public/names.py`` writes the list anew."""

import inspect
from pathlib import Path

import bayeskit

PLACE = Path(__file__).with_name("names.txt")
MODULES = ("concept", "course", "datasets", "errors", "explain", "network", "plot")


def listed():
    """Return the list of public names, one line each."""
    lines = []
    for name in sorted(bayeskit.__all__):
        value = getattr(bayeskit, name)
        if name in MODULES:
            lines += [line for each in public(value) for line in described(f"{name}.{each}", getattr(value, each))]
        elif name != "__version__":
            lines += described(name, value)
    return "\n".join(lines) + "\n"


def public(module):
    """Return the names that a module offers."""
    own = (name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__)
    return sorted(name for name in getattr(module, "__all__", own) if not name.startswith("_"))


def described(name, value):
    """Return a name with its signature, and the public members of a class."""
    if not inspect.isclass(value):
        return [f"{name}{signature(value)}"]
    lines = [f"{name}{signature(value)}"]
    for member in sorted(dir(value)):
        if member.startswith("_") or of_another_library(value, member):
            continue
        found = inspect.getattr_static(value, member)
        is_method = isinstance(found, (staticmethod, classmethod)) or callable(found)
        lines.append(f"{name}.{member}{signature(getattr(value, member)) if is_method else ''}")
    return lines


def of_another_library(value, member):
    """Say whether a member comes from scikit-learn, Python or NumPy, whose promise it is."""
    owner = next((each for each in value.__mro__ if member in vars(each)), value)
    return not owner.__module__.startswith("bayeskit") or (member.startswith("set_") and member.endswith("_request"))


def signature(value):
    """Return the names of the parameters and which of them have a default; no types, which may become more exact."""
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return ""
    shown, star = [], False
    for each in parameters:
        if each.name in ("self", "cls"):
            continue
        if each.kind is each.KEYWORD_ONLY and not star:
            shown.append("*")
            star = True
        star |= each.kind is each.VAR_POSITIONAL
        sign = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        shown.append(f"{sign}{each.name}{'' if each.default is each.empty else '=…'}")
    return f"({', '.join(shown)})"


if __name__ == "__main__":
    PLACE.write_text(listed(), encoding="utf-8")
