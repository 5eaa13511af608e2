"""The properties of a format as a user gives them: names are known, values have a form. Pure."""

import re
from collections.abc import Mapping

from snakka.config.problems import nearest
from snakka.pipeline.errors import OptionError


def check_properties(kind: str, given: Mapping[str, str], known: Mapping[str, str]) -> None:
    """Holds properties against the known ones, which have a regular expression each."""
    for name, value in given.items():
        if name not in known:
            raise OptionError(f"{kind} table has no property {name}{nearest(name, known)}")
        if not re.fullmatch(known[name], value):
            raise OptionError(f"property {name}: {value!r} does not match {known[name]}")
