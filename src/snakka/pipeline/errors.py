"""What the source, the sink and pipelines tell their user: each message says what to do."""


class OptionError(ValueError):
    """An option that is unknown, missing, or cannot be read; it names the option."""


class DataLossError(Exception):
    """Offsets that were to be read are not in the log any more."""

    def __init__(self, gone: str, why: str) -> None:
        super().__init__(
            f"{gone}: gone before they were read ({why}). To go on without them set the option"
            " failOnDataLoss to false"
        )


class SchemaError(ValueError):
    """Rows that cannot become records, or rows of a table; it names the column."""


class StagedRecordsLostError(Exception):
    """What tasks have staged is not there when it is to be committed; nothing of it is visible."""

    def __init__(self, topic: str) -> None:
        super().__init__(
            f"records staged in {topic} are gone: the topic was changed by somebody else, or lost"
            " its leader without a replica. Nothing was written; the write can be repeated"
        )


class StaleCommitError(Exception):
    """Somebody else has moved the table's offsets: nothing was added."""

    def __init__(self, pipeline: str, table: str) -> None:
        super().__init__(
            f"{table} holds other offsets of the pipeline {pipeline} than this run began at:"
            " another run of it is writing. Nothing was added; stop one of the two"
        )
