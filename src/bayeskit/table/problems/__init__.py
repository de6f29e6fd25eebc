"""Problems of a table, said before anything is learned from it: one file per problem, which lists itself."""

from bayeskit.table.problems.examined import Examined
from bayeskit.table.problems.registry import find_problems

__all__ = ["Examined", "find_problems"]
