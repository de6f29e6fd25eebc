"""The command ``bayeskit``: one file a verb."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command; what is wrong is said in one paragraph."""
    try:
        from bayeskit.cli.app import run
    except ModuleNotFoundError as error:
        sys.exit(f"the command needs {error.name}; install it with: pip install 'bayeskit[cli]'")
    sys.exit(run())
