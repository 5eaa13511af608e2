"""Text to values and back; tests/compat/test_config_java.py asks Java itself."""

import pytest

from snakka.config.key import BOOLEAN, DOUBLE, INT, LIST, LOW, PASSWORD, Key, Value
from snakka.config.rules import at_least, list_of
from snakka.config.values import InvalidValueError, parse, render

NUMBER = INT("number", 1, LOW, at_least(0), doc="A number.")
COLOURS = LIST("colours", (), LOW, list_of("red", "green"), doc="Some colours.")


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        (NUMBER, " +5 ", 5),
        (BOOLEAN("b", True, LOW, doc="A switch."), "FALSE", False),
        (DOUBLE("d", 0.0, LOW, doc="A share."), "1e-3", 0.001),
        (COLOURS, " red , green ", ("red", "green")),
        (PASSWORD("p", None, LOW, doc="A secret."), " a b ", "a b"),
    ],
)
def test_values(key: Key, text: str, value: Value) -> None:
    assert parse(key, text) == value


@pytest.mark.parametrize(
    ("key", "text", "reason"),
    [
        (NUMBER, "1.0", "it must be a whole number"),
        (NUMBER, "-1", "it must be at least 0"),
        (NUMBER, "9" * 10_000, "it must be between -2147483648 and 2147483647"),
        (COLOURS, "", "it must not be empty"),
        (COLOURS, "red,red", "it must not name a value twice"),
        (COLOURS, "red,blue", "'blue' is not one of red, green"),
    ],
)
def test_what_is_no_value(key: Key, text: str, reason: str) -> None:
    with pytest.raises(InvalidValueError, match=reason):
        parse(key, text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None),
        (True, "true"),
        (7, "7"),
        (("a", "b"), "a,b"),
        (0.5, "0.5"),
        (1e10, "1.0E10"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (1e-5, "1.0E-5"),
        (float("inf"), "Infinity"),
    ],
)
def test_values_are_shown_as_java_shows_them(value: Value, text: str | None) -> None:
    assert render(value) == text
