"""The command ``bayeskit``: one file per verb."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command; errors are shown in one paragraph."""
    try:
        from bayeskit.cli.app import run
    except ModuleNotFoundError as error:
        sys.exit(f"the command needs {error.name}; install it with: pip install 'bayeskit[cli]'")
    sys.exit(run())
