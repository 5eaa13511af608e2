"""Settings made while a broker runs: whose they are, and over what they go."""

from snakka.config.broker import BrokerConfig
from snakka.metadata.delta import MetadataDelta
from snakka.metadata.image import EMPTY, MetadataImage, Provenance
from snakka.metadata.keys import ConfigType
from snakka.metadata.loader import Published
from snakka.node.dynamic_config import DynamicConfig
from snakka.protocol.internal.metadata import ConfigRecord

KEY = "log.cleaner.backoff.ms"


def test_the_nearest_setting_holds_and_followers_hear_of_it() -> None:
    config = DynamicConfig(BrokerConfig({"node.id": "1", KEY: "1"}))
    told: list[int] = []
    config.follow(lambda current: told.append(current.get_int(KEY)))
    image = EMPTY

    def set_(name: str, value: str | None, kind: int = ConfigType.BROKER) -> MetadataImage:
        delta = MetadataDelta(image)
        delta.replay(ConfigRecord(resource_type=kind, resource_name=name, name=KEY, value=value))
        after = delta.after(Provenance(1, 1, 0))
        config.publish(Published(delta, after))
        return after

    image = set_("", "2")
    image = set_("1", "3")
    image = set_("2", "4")  # another broker
    image = set_("1", "5", ConfigType.TOPIC)
    image = set_("", "6")
    image = set_("1", None)
    image = set_("", None)
    assert told == [2, 3, 3, 6, 1]
    assert config.current.get_int(KEY) == 1
