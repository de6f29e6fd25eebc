"""``python -m bayeskit.cli`` is the command ``bayeskit``."""

from bayeskit.cli import main

if __name__ == "__main__":
    main()
