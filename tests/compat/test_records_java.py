"""Record batches against Kafka's Java classes: what one writes the other reads, byte for byte.

Java's compressors are not ours, so compressed batches are compared after reading; the layout inside
is the uncompressed one, which is compared byte for byte.
"""

import json
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import cramjam
import pytest

from snakka.protocol.errors import MalformedError
from snakka.protocol.records.batch import Batch, TimestampType, batches, set_max_timestamp
from snakka.protocol.records.builder import build_batch, build_empty_batch, build_end_txn_batch
from snakka.protocol.records.columns import scan_keys
from snakka.protocol.records.compression import Compression, compress, decompress
from snakka.protocol.records.control import ControlType, EndTxnMarker, read_control_key
from snakka.protocol.records.legacy import read_records
from snakka.protocol.records.record import Record
from tests.compat.java_oracle import JAVA_SOURCES, JavaProgram
from tests.protocol.records.samples import RECORDS, TIMESTAMP_MS, only_batch

Answer = Any
Ask = Callable[..., Answer]

CODECS = tuple(Compression)
LIMIT_BYTES = 1 << 20
KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "idempotent": {"producer_id": 7, "producer_epoch": 3, "base_sequence": 40},
    "transactional": {
        "producer_id": 7,
        "producer_epoch": 3,
        "base_sequence": (1 << 31) - 2,
        "is_transactional": True,
        "leader_epoch": 9,
    },
    "log append time": {"log_append_time": TIMESTAMP_MS + 1},
}
DEFAULTS: dict[str, Any] = {
    "leader_epoch": -1,
    "producer_id": -1,
    "producer_epoch": -1,
    "base_sequence": -1,
    "is_transactional": False,
    "log_append_time": None,
}


@pytest.fixture(scope="module")
def java() -> Iterator[Ask]:
    with JavaProgram(JAVA_SOURCES / "Records.java") as program:

        def ask(op: str, **question: Any) -> Answer:
            return json.loads(program.ask(json.dumps({"op": op, **question})))

        yield ask


def to_hex(data: bytes | None) -> str | None:
    return None if data is None else bytes(data).hex()


def as_json(record: Record) -> dict[str, Any]:
    return {
        "offset": record.offset,
        "timestamp_ms": record.timestamp_ms,
        "key": to_hex(record.key),
        "value": to_hex(record.value),
        "headers": [[key, to_hex(value)] for key, value in record.headers],
    }


def java_batch(
    java: Ask,
    codec: Compression,
    kind: dict[str, Any],
    *,
    magic: int = 2,
    delete_horizon_ms: int | None = None,
    records: tuple[Record, ...] = RECORDS,
) -> bytes:
    answer = java(
        "build",
        **(DEFAULTS | kind),
        magic=magic,
        compression=codec.name,
        base_offset=records[0].offset,
        delete_horizon_ms=delete_horizon_ms,
        records=[as_json(record) for record in records],
    )
    assert isinstance(answer, str), answer
    return bytes.fromhex(answer)


def described(batch: Batch) -> dict[str, Any]:
    """What Java says of the same batch."""
    header = batch.header
    return {
        "magic": 2,
        "base_offset": header.base_offset,
        "last_offset": header.last_offset,
        "leader_epoch": header.leader_epoch,
        "compression": header.compression.name,
        "timestamp_type": header.timestamp_type.name,
        "max_timestamp": header.max_timestamp,
        "producer_id": header.producer_id,
        "producer_epoch": header.producer_epoch,
        "base_sequence": header.base_sequence,
        "is_transactional": header.is_transactional,
        "is_control": header.is_control,
        "records": [as_json(record) for record in batch.records()],
    }


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_java_reads_what_we_write(java: Ask, codec: Compression, kind: dict[str, Any]) -> None:
    written = build_batch(RECORDS, compression=codec, **kind)
    assert java("read", bytes=written.hex()) == [described(only_batch(written))]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_we_read_what_java_writes(java: Ask, codec: Compression, kind: dict[str, Any]) -> None:
    written = java_batch(java, codec, kind)
    ours = only_batch(build_batch(RECORDS, compression=codec, **kind))
    theirs = only_batch(written)
    theirs.verify_crc()
    apart = {"batch_length": 0, "crc": 0}
    assert theirs.header._replace(**apart) == ours.header._replace(**apart)
    assert theirs.section() == ours.section()
    assert java("read", bytes=written.hex()) == [described(theirs)]


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_uncompressed_batches_are_the_same_bytes(java: Ask, kind: dict[str, Any]) -> None:
    assert build_batch(RECORDS, **kind) == java_batch(java, Compression.NONE, kind)


def test_a_batch_stamped_by_us_is_one_stamped_by_java(java: Ask) -> None:
    stamped = bytearray(build_batch(RECORDS))
    set_max_timestamp(stamped, TimestampType.LOG_APPEND_TIME, 123)
    assert bytes(stamped) == java_batch(java, Compression.NONE, {"log_append_time": 123})


def test_records_that_have_no_timestamp(java: Ask) -> None:
    untimed = tuple(record._replace(timestamp_ms=-1) for record in RECORDS)
    assert build_batch(untimed) == java_batch(java, Compression.NONE, {}, records=untimed)


def test_a_delete_horizon_is_read(java: Ask) -> None:
    batch = only_batch(java_batch(java, Compression.NONE, {}, delete_horizon_ms=TIMESTAMP_MS + 9))
    assert batch.header.has_delete_horizon
    assert batch.header.base_timestamp == TIMESTAMP_MS + 9
    assert tuple(batch.records()) == RECORDS
    assert [span.timestamp_ms for span in scan_keys(batch.header, batch.section())] == [
        record.timestamp_ms for record in RECORDS
    ]


@pytest.mark.parametrize("outcome", [ControlType.ABORT, ControlType.COMMIT])
def test_transaction_markers_are_the_same_bytes(java: Ask, outcome: ControlType) -> None:
    place = {
        "timestamp_ms": TIMESTAMP_MS,
        "producer_id": 7,
        "producer_epoch": 3,
        "base_offset": 99,
        "leader_epoch": 4,
    }
    ours = build_end_txn_batch(EndTxnMarker(outcome, coordinator_epoch=5), **place)
    theirs = java("build_marker", type=outcome.name, coordinator_epoch=5, **place)
    assert ours.hex() == theirs
    (read,) = java("read", bytes=ours.hex())
    assert read.pop("control_type") == outcome.name
    assert read == described(only_batch(ours))


def test_the_control_batches_of_kraft(java: Ask) -> None:
    built = java("build_kraft")
    for name, batch_hex in built.items():
        batch = only_batch(bytes.fromhex(batch_hex))
        batch.verify_crc()
        assert batch.header.is_control
        (record,) = batch.records()
        assert read_control_key(record.key) is ControlType[name]
    assert len(built) == 5


def test_empty_batches_are_the_same_bytes(java: Ask) -> None:
    kind = KINDS["transactional"]
    for log_append_time in (None, TIMESTAMP_MS):
        full = build_batch(RECORDS, log_append_time=log_append_time, **kind)
        header = only_batch(full).header
        theirs = java(
            "build_empty",
            **(DEFAULTS | kind | {"log_append_time": log_append_time}),
            base_offset=header.base_offset,
            last_offset=header.last_offset,
            max_timestamp=header.max_timestamp,
            is_control=False,
        )
        assert build_empty_batch(header).hex() == theirs


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize(
    "codec", [Compression.NONE, Compression.GZIP, Compression.SNAPPY, Compression.LZ4]
)
def test_legacy_formats(java: Ask, magic: int, codec: Compression) -> None:
    plain = tuple(record._replace(headers=()) for record in RECORDS)
    kinds = [{}, {"log_append_time": 55}] if magic else [{}]
    for kind in kinds:
        written = java_batch(java, codec, kind, magic=magic, records=plain)
        read = java("read", bytes=written.hex())
        expected = [record for batch in read for record in batch["records"]]
        assert [as_json(record) for record in read_records(written)] == expected
        assert len(expected) == len(plain)


CONTENTS = {
    "nothing": b"",
    "words": b" ".join(b"%d bottles" % count for count in range(30_000)),
    "noise": zlib.compress(b"".join(b"%d" % (n * n) for n in range(30_000)), 9),
}


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS.keys())
@pytest.mark.parametrize("codec", CODECS)
def test_java_decompresses_what_we_compress(java: Ask, codec: Compression, content: bytes) -> None:
    levels: dict[Compression, tuple[int, ...]] = {
        Compression.GZIP: (1, 9),
        Compression.LZ4: (1, 5, 12, 17),
        Compression.ZSTD: (-7, 1, 19),
    }
    for level in (None, *levels.get(codec, ())):
        packed = bytes(compress(codec, content, level=level))
        assert java("decompress", compression=codec.name, bytes=packed.hex()) == content.hex()


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS.keys())
@pytest.mark.parametrize("codec", CODECS)
def test_we_decompress_what_java_compresses(java: Ask, codec: Compression, content: bytes) -> None:
    packed = bytes.fromhex(java("compress", compression=codec.name, bytes=content.hex()))
    assert decompress(codec, packed, limit_bytes=LIMIT_BYTES) == content


SKIPPABLE = struct.pack("<II", 0x184D2A50, 3) + b"abc"
ODD_FRAMES = {
    "gzip members": (Compression.GZIP, lambda one: one + one),
    "zstd frames": (Compression.ZSTD, lambda one: one + one),
    "skippable before": (Compression.ZSTD, lambda one: SKIPPABLE + one),
    "skippable after": (Compression.ZSTD, lambda one: one + SKIPPABLE),
    "xerial streams": (Compression.SNAPPY, lambda one: one + one),
    "xerial without blocks": (Compression.SNAPPY, lambda one: one[:16]),
    "zstd and more": (Compression.ZSTD, lambda one: one + b"more"),
    "xerial and more": (Compression.SNAPPY, lambda one: one + b"more"),
    "gzip cut": (Compression.GZIP, lambda one: one[:-1]),
    "zstd cut": (Compression.ZSTD, lambda one: one[:-1]),
    "lz4 cut": (Compression.LZ4, lambda one: one[:-1]),
    "xerial cut": (Compression.SNAPPY, lambda one: one[:-1]),
}


@pytest.mark.parametrize(("codec", "change"), ODD_FRAMES.values(), ids=ODD_FRAMES.keys())
def test_odd_frames_mean_what_they_mean_in_java(
    java: Ask, codec: Compression, change: Callable[[bytes], bytes]
) -> None:
    data = change(bytes(compress(codec, CONTENTS["words"])))
    theirs = java("decompress", compression=codec.name, bytes=data.hex())
    if isinstance(theirs, str):
        assert bytes(decompress(codec, data, limit_bytes=LIMIT_BYTES)).hex() == theirs
    else:
        with pytest.raises(MalformedError):
            decompress(codec, data, limit_bytes=LIMIT_BYTES)


def test_raw_snappy_is_read_by_both(java: Ask) -> None:
    data = bytes(cramjam.snappy.compress_raw(CONTENTS["words"]))
    assert decompress(Compression.SNAPPY, data, limit_bytes=LIMIT_BYTES) == CONTENTS["words"]
    assert java("decompress", compression="SNAPPY", bytes=data.hex()) == CONTENTS["words"].hex()


def test_batches_in_a_row(java: Ask) -> None:
    written = b"".join(build_batch(RECORDS, compression=codec) for codec in CODECS)
    assert java("read", bytes=written.hex()) == [described(batch) for batch in batches(written)]
