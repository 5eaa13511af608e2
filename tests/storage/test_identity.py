import pytest

from snakka.protocol.types import Uuid
from snakka.storage.disk import Disk, read_whole, replace_file
from snakka.storage.errors import CorruptFileError
from snakka.storage.identity import (
    MetaProperties,
    read_meta_properties,
    read_topic_id,
    write_meta_properties,
    write_topic_id,
)

ID = Uuid(bytes.fromhex("fbff0000000000000000000000000001"))
TEXT = "-_8AAAAAAAAAAAAAAAAAAQ"


def test_meta_properties(disk: Disk) -> None:
    meta = MetaProperties("4L6g3nShT-eMCtK--X86sw", 7, ID)
    write_meta_properties(disk, "/logs/meta.properties", meta)
    assert read_meta_properties(disk, "/logs/meta.properties") == meta
    assert b"directory.id=-_8A" in read_whole(disk, "/logs/meta.properties")


def test_meta_properties_as_java_writes_them(disk: Disk) -> None:
    text = (
        b"#\n#Wed Nov 18 18:00:00 UTC 2026\nnode.id=1\n"
        b"directory.id=" + TEXT.encode() + b"\nversion=1\ncluster.id=a\\=b\n"
    )
    replace_file(disk, "/logs/meta.properties", text)
    meta = read_meta_properties(disk, "/logs/meta.properties")
    assert meta == MetaProperties("a=b", 1, ID)


@pytest.mark.parametrize(
    "text",
    [
        b"version=0\nbroker.id=1\n",
        b"version=1\nnode.id=1\n",
        b"version=1\ncluster.id=c\nnode.id=x\n",
        b"version=1\ncluster.id=c\nnode.id=1\ndirectory.id=zzz\n",
        b"nonsense\n",
    ],
)
def test_damaged_meta_properties(disk: Disk, text: bytes) -> None:
    replace_file(disk, "/logs/meta.properties", text)
    with pytest.raises(CorruptFileError):
        read_meta_properties(disk, "/logs/meta.properties")


def test_partition_metadata(disk: Disk) -> None:
    path = "/logs/t-0/partition.metadata"
    write_topic_id(disk, path, ID)
    assert read_whole(disk, path) == b"version: 0\ntopic_id: " + TEXT.encode()
    assert read_topic_id(disk, path) == ID
    for damaged in (b"version: 1\ntopic_id: " + TEXT.encode(), b"version: 0\n"):
        replace_file(disk, path, damaged)
        with pytest.raises(CorruptFileError):
            read_topic_id(disk, path)
