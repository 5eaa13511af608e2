"""What is redundant in `__share_group_state` goes, and nothing that is needed."""

import time
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from snakka.protocol.messages import find_coordinator as find
from snakka.protocol.messages import initialize_share_group_state as initialize
from snakka.protocol.messages import read_share_group_state as read
from snakka.protocol.messages import write_share_group_state as write
from snakka.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from snakka.protocol.types import Uuid, format_uuid
from tests.compat.asking import ask
from tests.compat.broker_process import BrokerProcess

WRITES = 20
PATIENCE_S = 30


def test_the_log_of_share_state_is_kept_short(tmp_path: Path) -> None:
    settings = (
        "share.coordinator.state.topic.num.partitions=1",
        "share.coordinator.state.topic.prune.interval.ms=100",
        "share.coordinator.snapshot.update.records.per.snapshot=3",
    )
    with BrokerProcess(tmp_path, *settings) as broker:
        topic_id = begin(broker)
        for offset in range(WRITES):
            write_state(broker, topic_id, offset)
        # One snapshot to begin with, and then each fourth write is one.
        assert wait_for_start(broker) == WRITES
        broker.kill()
        broker.start()
        assert read_start(broker, topic_id) == WRITES - 1
        assert wait_for_start(broker) == WRITES


def begin(broker: BrokerProcess) -> Uuid:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.create_topics([NewTopic("shared", 1, 1)])["shared"].result(PATIENCE_S)
    asked = MetadataRequest(topics=[MetadataRequestTopic(name="shared")])
    (topic,) = ask(broker.bootstrap, asked, 12, MetadataResponse).topics
    key = f"group:{format_uuid(topic.topic_id)}:0"
    request = find.FindCoordinatorRequest(key_type=2, coordinator_keys=[key])
    ask(broker.bootstrap, request, 6, find.FindCoordinatorResponse)
    partition = initialize.PartitionData(partition=0, state_epoch=0, start_offset=0)
    data = initialize.InitializeStateData(topic_id=topic.topic_id, partitions=[partition])
    begun = ask(
        broker.bootstrap,
        initialize.InitializeShareGroupStateRequest(group_id="group", topics=[data]),
        0,
        initialize.InitializeShareGroupStateResponse,
    )
    assert begun.results[0].partitions[0].error_code == 0
    return topic.topic_id


def write_state(broker: BrokerProcess, topic_id: Uuid, offset: int) -> None:
    partition = write.PartitionData(
        partition=0, state_epoch=0, leader_epoch=0, start_offset=offset, state_batches=[]
    )
    data = write.WriteStateData(topic_id=topic_id, partitions=[partition])
    request = write.WriteShareGroupStateRequest(group_id="group", topics=[data])
    answer = ask(broker.bootstrap, request, 1, write.WriteShareGroupStateResponse)
    assert answer.results[0].partitions[0].error_code == 0


def read_start(broker: BrokerProcess, topic_id: Uuid) -> int:
    partition = read.PartitionData(partition=0, leader_epoch=-1)
    data = read.ReadStateData(topic_id=topic_id, partitions=[partition])
    request = read.ReadShareGroupStateRequest(group_id="group", topics=[data])
    answer = ask(broker.bootstrap, request, 0, read.ReadShareGroupStateResponse)
    return answer.results[0].partitions[0].start_offset


def wait_for_start(broker: BrokerProcess) -> int:
    deadline = time.monotonic() + PATIENCE_S
    while (start := start_of(broker)) < WRITES and time.monotonic() < deadline:
        time.sleep(0.05)
    return start


def start_of(broker: BrokerProcess) -> int:
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "looking"})
    first, _ = consumer.get_watermark_offsets(TopicPartition("__share_group_state", 0), PATIENCE_S)
    consumer.close()
    return int(first)
