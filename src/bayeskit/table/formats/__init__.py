"""The formats of table files, one file per format: how it is recognised, read and written."""

from __future__ import annotations

from bayeskit.table.formats.interface import Format, TableReader, TableWriter
from bayeskit.table.formats.recognise import format_named, open_writer, recognise

__all__ = ["Format", "TableReader", "TableWriter", "format_named", "open_writer", "recognise"]
