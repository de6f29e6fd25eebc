"""The command ``bayeskit``: one file per verb."""

from __future__ import annotations

import sys
from typing import Any


class _NoPandas:
    """Says that there is no pandas. pyarrow imports it if it can, only to recognise frames, which takes .2 s."""

    @staticmethod
    def find_spec(name: str, *_: Any) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("the command works without pandas", name=name)


def main() -> None:
    """Run the command; errors are shown in one paragraph."""
    sys.meta_path.insert(0, _NoPandas)
    try:
        from bayeskit.cli.app import run
    except ModuleNotFoundError as error:
        sys.exit(f"the command needs {error.name}; install it with: pip install 'bayeskit[cli]'")
    sys.exit(run())
