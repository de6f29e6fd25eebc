"""Tables of any size: described as pieces, read batch by batch from where they are stored."""

from bayeskit.table.scan.open import scan
from bayeskit.table.scan.pieces import Piece, Scan

__all__ = ["Piece", "Scan", "scan"]
