"""The reference page lists the keys as they are declared."""

import re
from pathlib import Path

import pytest

from snakka.config import keys, reference

PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"
PARTS = {
    part.__name__: part
    for part in (
        reference.broker_configs,
        reference.unused_broker_configs,
        reference.topic_configs,
        reference.group_configs,
        reference.client_metrics_configs,
        reference.quota_configs,
    )
}
GENERATED = re.compile(r"<!-- generated: (\w+) --> ?\n(.*?)<!-- end -->", re.DOTALL)


@pytest.mark.parametrize("name", PARTS)
def test_the_page_is_up_to_date(name: str) -> None:
    found = dict(GENERATED.findall(PAGE.read_text()))
    assert found[name] == "\n".join(PARTS[name]()) + "\n"


def test_every_documented_key_is_on_the_page_once() -> None:
    page = PAGE.read_text()
    for by_name in (keys.BROKER_KEYS, keys.TOPIC_KEYS, keys.GROUP_KEYS):
        for key in by_name.values():
            assert key.is_internal or f"| `{key.name}` |" in page


def test_every_key_says_what_it_is_in_a_sentence() -> None:
    for by_name in (keys.BROKER_KEYS, keys.TOPIC_KEYS, keys.GROUP_KEYS, keys.CLIENT_METRICS_KEYS):
        for key in by_name.values():
            assert re.fullmatch(r"[A-Z`].{10,150}\.", key.doc), key.name
