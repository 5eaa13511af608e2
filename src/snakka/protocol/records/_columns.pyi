"""The compiled module has the names and signatures of its pure-Python twin."""

from snakka.protocol.records._columns_python import ColumnsBuilder as ColumnsBuilder
from snakka.protocol.records._columns_python import scan_keys as scan_keys
