"""Subscriptions by regular expression: what they match, when anew, and what is kept of them."""

from snakka.coordinators.groups.client import ClientInfo
from snakka.protocol.internal.consumer_groups import ConsumerGroupRegularExpressionKey
from snakka.protocol.internal.frames import GROUP_RECORDS, read_coordinator_record
from snakka.protocol.records.batch import batches
from tests.coordinators.groups.consumer.test_heartbeating import (
    NAMES,
    Consumer,
    Coordinator,
    run,
)
from tests.coordinators.groups.consumer.topics import topic_id

CLIENT = ClientInfo("c", "127.0.0.1", 1)


def kept(c: Coordinator) -> list[tuple[str, bool]]:
    """The expressions that records are written for, and whether they are to be kept."""
    found = []
    for each in batches(b"".join(c.log.batches)):
        for record in each.records():
            assert record.key is not None
            key, value = read_coordinator_record(GROUP_RECORDS, record.key, record.value)
            if isinstance(key, ConsumerGroupRegularExpressionKey):
                found.append((key.regular_expression, value is not None))
    return found


class Matcher(Consumer):
    """A consumer that names topics by an expression, and tells the topics that it is given."""

    def __init__(self, coordinator: Coordinator, member_id: str, expression: str) -> None:
        super().__init__(coordinator, member_id)
        self._coordinator = coordinator
        self.expression = expression
        self.topics: set[str] = set()

    async def beat(self, **changes: object) -> str:
        """A heartbeat that gives up what it is told to, and says no more than it has to."""
        is_new = self.epoch == 0
        fields: dict[str, object] = {
            "subscribed_topic_regex": self.expression if is_new else None,
            "subscribed_topic_names": [] if is_new else None,
            "rebalance_timeout_ms": 30_000 if is_new else -1,
            "topic_partitions": [] if is_new else None,
        }
        request = self.request(**{**fields, **changes})
        response = await self.groups.consumer_group_heartbeat(request, CLIENT)
        self.epoch = response.member_epoch
        if response.assignment is not None:
            names = {topic_id(name): name for name in self._coordinator.topics.by_name}
            self.topics = {names[each.topic_id] for each in response.assignment.topic_partitions}
        return NAMES[response.error_code]


def test_an_expression_stands_for_the_topics_that_it_matches_whole() -> None:
    async def body(c: Coordinator) -> None:
        for name in ("logs-a", "logs-b", "my-logs-a"):
            c.topics.put(name, 1)
        member = Matcher(c, "m", "logs-[ab]")
        assert await member.beat() == "NONE"
        assert member.topics == {"logs-a", "logs-b"}
        assert await member.beat(subscribed_topic_names=["t"]) == "NONE"
        assert member.topics == {"logs-a", "logs-b", "t"}
        assert await member.beat(subscribed_topic_regex="", topic_partitions=[]) == "NONE"
        assert member.topics == {"t"}

    run(body)


def test_new_topics_are_matched_after_a_while_and_after_a_failover() -> None:
    async def body(c: Coordinator) -> None:
        c.topics.put("logs-a", 1)
        member = Matcher(c, "m", "logs-.*")
        await member.beat()
        c.topics.put("logs-b", 1)
        c.timers.advance(9_999)
        await member.beat()
        assert member.topics == {"logs-a"}
        c.timers.advance(1)
        await member.beat()
        assert member.topics == {"logs-a", "logs-b"}
        await c.restart()
        c.topics.put("logs-c", 1)
        c.timers.advance(10_000)
        await member.beat()
        assert member.topics == {"logs-a", "logs-b", "logs-c"}

    run(body)


def test_members_share_what_an_expression_matched_and_the_last_takes_it_away() -> None:
    async def body(c: Coordinator) -> None:
        first, second = Matcher(c, "a", "t.*"), Matcher(c, "b", "t.*")
        await first.beat()
        await second.beat()
        assert kept(c) == [("t.*", True)]
        await first.leave()
        assert kept(c) == [("t.*", True)]
        await second.beat(subscribed_topic_regex="u.*")
        assert kept(c) == [("t.*", True), ("t.*", False), ("u.*", True)]
        c.timers.advance(60_000)
        assert kept(c)[-1] == ("u.*", False)

    run(body)


def test_what_is_no_expression_changes_nothing() -> None:
    async def body(c: Coordinator) -> None:
        member = Matcher(c, "m", "t")
        await member.beat()
        assert await member.beat(subscribed_topic_regex="(") == "INVALID_REGULAR_EXPRESSION"
        member.epoch = 1
        assert await member.beat() == "NONE"
        assert member.topics == {"t"}

    run(body)
