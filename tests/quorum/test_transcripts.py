"""What the transcripts of tests/golden/quorum say is what happens. See transcript.py."""

from pathlib import Path

import pytest

from tests.quorum.transcript import DIRECTORY, replay


@pytest.mark.parametrize("path", sorted(DIRECTORY.glob("*.txt")), ids=lambda path: path.stem)
def test_a_transcript_comes_out_as_written(path: Path) -> None:
    assert replay(path.read_text()) == path.read_text()
