"""Properties files as Java reads them; tests/compat/test_config_java.py asks Java itself."""

import pytest

from snakka.config.properties import Property, parse_properties


def test_separators_comments_and_blanks() -> None:
    text = "# comment\n! comment\n\na=1\n  b : 2\nc 3\nd\n"
    assert list(parse_properties(text)) == [
        Property(4, "a", "1"),
        Property(5, "b", "2"),
        Property(6, "c", "3"),
        Property(7, "d", ""),
    ]


def test_a_continued_line_is_numbered_by_its_first() -> None:
    text = "a=1\nlisteners=A://:1,\\\n    B://:2\nb=2"
    assert list(parse_properties(text))[1:] == [
        Property(2, "listeners", "A://:1,B://:2"),
        Property(4, "b", "2"),
    ]


def test_escapes() -> None:
    (found,) = parse_properties(r"a\=b\ c = C:\\data\u0021\n")
    assert found == Property(1, "a=b c", "C:\\data!\n")


def test_a_broken_escape_is_said_with_its_line() -> None:
    with pytest.raises(ValueError, match="line 2"):
        list(parse_properties("a=1\nb=\\u12"))
