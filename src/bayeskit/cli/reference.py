"""The reference of the command, made from the command by ``python -m bayeskit.cli.reference``."""

from __future__ import annotations

import inspect
from typing import Any

HEAD = """# The command

The exit code is 0 on success, 1 when the data or the model is at fault, 2 for wrong usage, and 130 when interrupted.
`bayeskit --install-completion` installs completion of commands and options in your shell.
"""


def reference() -> str:
    """Return the page: for each verb its words, its example, its arguments and its options."""
    import typer

    from bayeskit.cli.app import build

    command: Any = typer.main.get_command(build())
    return "\n".join([HEAD, *(_verb(name, command.commands[name]) for name in sorted(command.commands))])


def _verb(name: str, verb: Any) -> str:
    words = inspect.cleandoc(verb.help).split("\n\n")
    examples = [part.removeprefix("Example: ") for part in words if part.startswith("Example: ")]
    text = [" ".join(part.split()) for part in words if not part.startswith("Example: ")]
    arguments = [param for param in verb.params if param.param_type_name == "argument"]
    options = [param for param in verb.params if param.param_type_name == "option" and param.name != "help"]
    usage = " ".join(["bayeskit", name, *(_placeholder(param) for param in arguments), "[options]"])
    rows = [f"| `{_placeholder(param)}` | {param.help} | |" for param in arguments]
    rows += [f"| {_names(param)} | {param.help} | {_default(param)} |" for param in options]
    lines = [f"## {name}", "", f"`{usage}`", "", *(f"{part}\n" for part in text)]
    lines += ["```sh", *(" ".join(example.split()) for example in examples), "```", ""]
    return "\n".join([*lines, "| | | default |", "|---|---|---|", *rows, ""])


def _placeholder(param: Any) -> str:
    return str(param.name).upper()


def _names(param: Any) -> str:
    names = [*param.opts, *param.secondary_opts]
    return ", ".join(f"`{name}`" for name in sorted(names, key=lambda name: (not name.startswith("--"), name)))


def _default(param: Any) -> str:
    value = param.default
    if isinstance(param.show_default, str):
        return param.show_default
    if value is None or value is False or param.required or callable(value):
        return "required" if param.required else ""
    return "" if isinstance(value, bool | list | tuple) else f"`{value}`"


if __name__ == "__main__":
    print(reference(), end="")
