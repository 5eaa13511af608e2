"""Whether a step is the next one of a pipeline, going by the offsets that are in its table. Pure.

Not here: where a format keeps the offsets (delta.py, iceberg.py, parquet.py).
"""

from snakka.pipeline.errors import StaleCommitError
from snakka.pipeline.offsets import Offsets
from snakka.pipeline.tables.table import Step


def check_step(stored: Offsets | None, step: Step, location: str) -> None:
    """Raises StaleCommitError where the table is elsewhere than the step begins at.

    A partition that the table does not know yet may begin anywhere. One that only the table knows
    is of no concern: the pipeline does not read it any more.
    """
    known = stored or {}
    for where in step.begin.keys() | step.end.keys():
        if where in known and known[where] != step.begin.get(where):
            raise StaleCommitError(step.pipeline, location)
