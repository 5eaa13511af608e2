"""Registers the data source `snakka`: Spark looks for modules named `pyspark_...` by itself.

It does so with the Python of its workers: `PYSPARK_PYTHON` has to be the interpreter that has this
package, as `snakka.pipeline.session` sees to.
"""

from snakka.pipeline.datasource import SnakkaDataSource as DefaultSource

__all__ = ["DefaultSource"]
