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


class StaleStateError(Exception):
    """An application of the sink is not in the state that a write began at: nothing was written."""

    def __init__(self, expected: str, found: str) -> None:
        super().__init__(
            f"the state is {found or 'none'} where {expected or 'none'} was expected: somebody else"
            " is writing under the same txnAppId. Nothing was written"
        )


class StaleCommitError(Exception):
    """Somebody else has moved the table's offsets: nothing was added."""

    def __init__(self, pipeline: str, table: str) -> None:
        super().__init__(
            f"{table} holds other offsets of the pipeline {pipeline} than this run began at:"
            " another run of it is writing. Nothing was added; stop one of the two"
        )


class RejectedRecordError(Exception):
    """A record that cannot be decoded or fails a check, where no dead-letter topic is declared."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(
            f"{where}: {reason}. Nothing from here on was written; a dead_letter_topic takes such"
            " records, and lets the others pass"
        )
