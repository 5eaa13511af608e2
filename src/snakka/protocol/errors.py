"""What decoding raises, whatever the bytes."""


class MalformedError(ValueError):
    """Bytes that are not what they claim to be: the place is named, nothing was allocated for them."""

    def __init__(self, where: str, offset: int, reason: str) -> None:
        super().__init__(f"{where} at byte {offset}: {reason}")
        self.where = where
        self.offset = offset
        self.reason = reason
