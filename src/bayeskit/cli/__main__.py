"""``python -m bayeskit.cli`` is the command ``bayeskit``."""

from bayeskit.cli import main

main()
