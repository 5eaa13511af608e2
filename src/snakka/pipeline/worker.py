"""What a process that Spark reuses does once, for the sake of its later tasks.

After every task Spark collects the process's garbage, and to do so walks through all libraries that
are loaded, which takes longer than a small task. They are set apart: at the second task, since the
first one loads some more.
"""

import gc
from itertools import count
from typing import Final

_TASKS: Final = count(1)


def settle_in() -> None:
    """To be called at the begin of each task."""
    if next(_TASKS) == 2:
        gc.collect()
        gc.freeze()
