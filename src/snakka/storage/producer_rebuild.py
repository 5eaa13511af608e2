"""Building producer state from the log: the last snapshot, then the batches after it."""

from snakka.storage.producer_state import ProducerState
from snakka.storage.scan import find_marker, read_batch, scan_headers
from snakka.storage.segments import Segments
from snakka.storage.snapshots import Snapshots


def rebuild_producers(segments: Segments, snapshots: Snapshots, end_offset: int) -> ProducerState:
    """The state at `end_offset`, which is where a batch begins or the log ends."""
    producers = snapshots.load_latest(end_offset)
    if producers is None:
        producers = ProducerState(end_offset=min(segments[0].base_offset, end_offset))
    if producers.end_offset < end_offset:
        for segment in segments.from_offset(producers.end_offset):
            found = segment.find_batch(producers.end_offset)
            if found is None:
                continue
            file = segment.file
            for position, header in scan_headers(file, found.position, segment.size_bytes):
                if header.base_offset >= end_offset:
                    break
                batch = read_batch(file, position, header) if header.is_control else None
                producers.replay(header, batch and find_marker(batch))
    producers.end_offset = end_offset
    return producers
