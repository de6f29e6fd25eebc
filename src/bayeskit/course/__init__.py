"""The exercises of the course: answers are checked by the library, which works each of them out itself."""

from bayeskit.course.checking import Verdict, check

__all__ = ["Verdict", "check"]
