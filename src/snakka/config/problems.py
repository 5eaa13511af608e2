"""What is wrong with a configuration, said so that it can be put right at once."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_SIMILARITY_MIN: Final = 0.75


@dataclass(frozen=True, slots=True)
class Problem:
    """One wrong setting: where it stands, what it says, and what is the matter with it."""

    reason: str
    source: str | None = None
    name: str | None = None
    value: str | None = None  # never that of a password

    def __str__(self) -> str:
        setting = self.name if self.value is None else f"{self.name}={self.value}"
        return ": ".join(part for part in (self.source, setting, self.reason) if part is not None)


class ConfigurationError(Exception):
    """All problems of a configuration together."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


def nearest(wrong: str, options: Iterable[str]) -> str:
    """`; did you mean ...?`, or nothing where no option is near."""
    by_lower = {option.lower(): option for option in options}
    near = difflib.get_close_matches(wrong.lower(), by_lower, n=1, cutoff=_SIMILARITY_MIN)
    return f"; did you mean {by_lower[near[0]]}?" if near else ""
