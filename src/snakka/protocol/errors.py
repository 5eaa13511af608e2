"""What decoding and encoding raise, whatever the bytes or the values."""


class MalformedError(ValueError):
    """Bytes that are not what they claim to be; the place is named."""

    def __init__(self, where: str, offset: int, reason: str) -> None:
        super().__init__(f"{where} at byte {offset}: {reason}")
        self.where = where
        self.offset = offset
        self.reason = reason


class UnencodableError(ValueError):
    """A value that the wire cannot carry; the place is named."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"{where}: {reason}")
        self.where = where
        self.reason = reason


class UnsupportedVersionError(ValueError):
    """A message asked for in a version that it does not have."""
