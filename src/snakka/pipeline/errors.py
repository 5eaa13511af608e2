"""What the source and the sink tell their user. Each message says what to do about it."""


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
    """Rows that cannot become records; it names the column."""


class StagedRecordsLostError(Exception):
    """What tasks have staged is not there when it is to be committed; nothing of it is visible."""

    def __init__(self, topic: str) -> None:
        super().__init__(
            f"records staged in {topic} are gone: the topic was changed by somebody else, or lost"
            " its leader without a replica. Nothing was written; the write can be repeated"
        )
