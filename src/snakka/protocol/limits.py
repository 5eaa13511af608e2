"""What a frame may claim before it is refused."""

from typing import Final

ARRAY_ELEMENTS_MAX: Final = 1_000_000
TAGGED_FIELDS_MAX: Final = 10_000
STRING_BYTES_MAX: Final = 32_767
