"""`snakka topics` and `snakka cluster`."""

from tests.cli.running import Cli


def test_topics_are_made_shown_and_deleted(cli: Cli) -> None:
    said = cli("topics", "create", "orders", "-p", "3", "-c", "cleanup.policy=compact")
    assert "created orders: 3 partitions, 1 replica" in said
    (line,) = [each for each in cli("topics", "list").splitlines() if "orders" in each]
    assert line.split() == ["orders", "3", "1", "ok"]
    (topic,) = cli.json("topics", "describe", "orders")
    assert topic["configs"] == {"cleanup.policy": "compact"}
    assert [each["partition"] for each in topic["partitions"]] == [0, 1, 2]
    assert topic["partitions"][0]["isr"] == [1]
    assert "✓ orders has 5 partitions" in cli("topics", "add-partitions", "orders", "-n", "2")
    described = cli("topics", "describe", "orders")
    assert "config cleanup.policy  compact" in described
    assert "deleted orders" in cli("topics", "delete", "orders")
    assert "orders" not in cli("topics", "list")


def test_ends_are_shown(cli: Cli) -> None:
    cli("topics", "create", "ends")
    cli("produce", "ends", stdin="one\ntwo\n")
    (topic,) = cli.json("topics", "describe", "ends")
    (partition,) = topic["partitions"]
    assert (partition["start_offset"], partition["end_offset"]) == (0, 2)


def test_topics_of_the_cluster_itself_are_shown_on_demand(cli: Cli) -> None:
    cli("topics", "create", "one")
    cli("produce", "one", stdin="v\n")
    cli("consume", "one", "-g", "readers", "-o", "start", "-n", "1")
    names = {each["name"] for each in cli.json("topics", "list")}
    assert "__consumer_offsets" not in names
    internal = {each["name"] for each in cli.json("topics", "list", "--internal")}
    assert "__consumer_offsets" in internal


def test_what_is_refused_is_said_by_topic(cli: Cli) -> None:
    cli("topics", "create", "there")
    assert cli.refused("topics", "create", "there").startswith(
        "snakka: there: TOPIC_ALREADY_EXISTS"
    )
    assert "there is there already" in cli("topics", "create", "there", "--if-not-exists")
    assert "INVALID_CONFIG" in cli.refused("topics", "create", "x", "-c", "no.such=key")
    assert "INVALID_TOPIC_EXCEPTION" in cli.refused("topics", "create", "a/b")
    for words in (["describe", "gone"], ["delete", "gone"], ["add-partitions", "gone", "-n", "1"]):
        assert "UNKNOWN_TOPIC_OR_PARTITION" in cli.refused("topics", *words)


def test_the_cluster_is_described(cli: Cli) -> None:
    described = cli.json("cluster", "describe")
    (node,) = described["nodes"]
    assert (described["controller"], node["id"], node["is_fenced"]) == (1, 1, False)
    assert "controller" in cli("cluster", "describe")
