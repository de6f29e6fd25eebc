"""Pictures that move: one drawing per step, saved as a GIF or as a page that needs no server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayeskit.errors import BayeskitError
from bayeskit.plot.canvas import choose_fonts

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation
    from matplotlib.axes import Axes


def animate(
    draw: Callable[[Axes, int], Any],
    n_steps: int,
    path: str | Path | None = None,
    *,
    seconds: float = 0.8,
    size: tuple[float, float] = (6.0, 3.6),
) -> FuncAnimation:
    """Draw one step after the other on the same axes, and return matplotlib's animation.

    Parameters
    ----------
    draw : callable
        Called with empty axes and the number of the step.
    n_steps : int
        How many steps there are; they are numbered from 0.
    path : str or Path, optional
        Where to save it: ``.gif``, or ``.html``, a page that any browser plays without a server. A file that exists is
        not replaced.
    seconds : float, default 0.8
        How long a step is shown.
    size : (float, float), default (6.0, 3.6)
        Width and height in inches.

    Examples
    --------
    >>> movie = animate(lambda ax, k: ax.set_title(f"step {k}"), 3)
    >>> movie.to_jshtml().count("data:image/png")
    3
    """
    if n_steps < 1 or seconds <= 0:
        raise BayeskitError(f"animate needs n_steps of at least 1 and seconds above 0; got {n_steps}, {seconds}.")
    target = None if path is None else Path(path)
    if target is not None and target.suffix not in (".gif", ".html"):
        raise BayeskitError(f"path must end in .gif or .html; got {str(path)!r}.")
    if target is not None and target.exists():
        raise BayeskitError(f"{str(path)!r} exists already; it is not replaced.")
    from matplotlib import pyplot
    from matplotlib.animation import FuncAnimation, PillowWriter

    figure, ax = pyplot.subplots(figsize=size, layout="constrained")

    def step(k: int) -> list[Any]:
        ax.clear()
        draw(ax, k)
        choose_fonts(ax)
        return []

    movie = FuncAnimation(figure, step, frames=n_steps, interval=1000 * seconds, repeat_delay=2000)
    if target is not None and target.suffix == ".gif":
        movie.save(target, writer=PillowWriter(fps=1 / seconds))  # type: ignore[arg-type]  # a fraction is fine
    elif target is not None:
        target.write_text(movie.to_jshtml(default_mode="loop"), encoding="utf-8")
    return movie
