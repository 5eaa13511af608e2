"""Whatever a file says makes a configuration or a ConfigurationError, never a traceback."""

import contextlib

from hypothesis import given, settings
from hypothesis import strategies as st

from snakka.config.describing import describe_broker, describe_topic
from snakka.config.keys import BROKER_KEYS
from snakka.config.loading import load_broker_config
from snakka.config.problems import ConfigurationError
from snakka.config.sources import from_environment, from_properties, from_toml
from snakka.config.topic import TopicConfig
from tests.config.making import loaded

NAMES = st.sampled_from(sorted(BROKER_KEYS)) | st.builds(
    "listener.name.{}.{}".format,
    st.sampled_from(["plaintext", "controller", ""]),
    st.sampled_from(sorted(BROKER_KEYS)),
)
WORDS = ("PLAINTEXT", "SSL", "CONTROLLER", "h", "0.0.0.0", "[::1]", "broker", "controller", "true")
NUMBERS = ("-1", "0", "1", "65536", "9" * 5000, "1e999")
PIECES = st.sampled_from((*WORDS, *NUMBERS, "://", ":", ",", "@", "*", " ", "=", "\0"))
TEXTS = st.lists(PIECES, max_size=6).map("".join) | st.text(max_size=20)


@given(st.dictionaries(NAMES, TEXTS, max_size=4))
@settings(max_examples=300, deadline=None)
def test_any_values(texts: dict[str, str]) -> None:
    with contextlib.suppress(ConfigurationError):
        config = loaded(texts)
        list(describe_broker(config))
        list(describe_topic(TopicConfig(config, {}), config))


@given(st.text(alphabet="a.=:\\\n\r \t#u0\"[]'1é", max_size=40))
@settings(max_examples=300, deadline=None)
def test_any_files(text: str) -> None:
    for read in (from_properties, from_toml):
        with contextlib.suppress(ConfigurationError):
            load_broker_config(read(text, "file"))


@given(st.dictionaries(st.text(max_size=10).map("SNAKKA_{}".format), TEXTS, max_size=3))
@settings(max_examples=100, deadline=None)
def test_any_environment(environment: dict[str, str]) -> None:
    with contextlib.suppress(ConfigurationError):
        load_broker_config(from_environment(environment))
