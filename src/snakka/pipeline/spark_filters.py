"""Spark's filters as conditions.

Not here: what a condition leaves to read (pushdown.py).
"""

from collections.abc import Iterator
from typing import Any, Final

from snakka.pipeline.pushdown import Condition

_COMPARISONS: Final = {
    "EqualTo": "=",
    "EqualNullSafe": "=",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
    "In": "in",
}


def conditions(spark_filter: Any) -> Iterator[Condition]:
    """What a filter says about one column; nothing for those that cannot narrow a read."""
    comparison = _COMPARISONS.get(type(spark_filter).__name__)
    if comparison is not None and len(spark_filter.attribute) == 1:
        yield Condition(spark_filter.attribute[0], comparison, spark_filter.value)
