"""The compiled walk over records and its pure-Python twin, as the tests take them."""

import importlib
from typing import Any

from tests.compat.java_oracle import missing

Twin = Any  # a module with ColumnsBuilder and scan_keys


def compiled() -> Twin:
    try:
        return importlib.import_module("snakka.protocol.records._columns")
    except ImportError:
        missing("the extension is not built: run `python setup.py build_ext --inplace`")
