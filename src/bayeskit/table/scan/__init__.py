"""Tables of any size: described as pieces, read batch by batch where they lie."""

from bayeskit.table.scan.open import scan
from bayeskit.table.scan.pieces import Piece, Scan

__all__ = ["Piece", "Scan", "scan"]
