"""The state of a fitted chain: its counts, and where the groups and times of a table are."""

from __future__ import annotations

from typing import Any

from bayeskit.learn.state import CountedState
from bayeskit.sequence.learning import Record


class ChainState(CountedState):
    """What a chain learned: counts (expected ones where states are hidden), and how learning went."""

    def __init__(
        self,
        settings: Any,
        counted: Any,
        target: str | None = None,
        layout: tuple[str | None, str | None] = (None, None),
        record: Record | None = None,
    ) -> None:
        super().__init__(settings, counted, target)
        self.layout = layout  # the columns that held group and time
        self.record = record  # None where all states were known

    def __reduce__(self) -> tuple[Any, ...]:
        return ChainState, (self.settings, self.counts, self.target, self.layout, self.record)
