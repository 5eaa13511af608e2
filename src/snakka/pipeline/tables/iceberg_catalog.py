"""The catalog of an Iceberg table: as properties say, or a database of SQLite beside its files.

Properties `catalog.*` are those of pyiceberg's catalogs, `table` is the name in it, and the others
are what a new table gets.
"""

import os
import re
from dataclasses import dataclass
from typing import Final

from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import TableProperties
from sqlalchemy.exc import OperationalError

from snakka.pipeline.errors import OptionError
from snakka.pipeline.tables.properties import check_properties
from snakka.pipeline.tables.table import TableOptions

CATALOG_PREFIX: Final = "catalog."
CATALOG_NAME: Final = "default"
DATABASE: Final = "catalog.db"
DEFAULT_NAMESPACE: Final = "snakka"
_NUMBER: Final = r"[1-9]\d*"
_BOOLEAN: Final = "true|false"
PROPERTIES: Final = {
    "table": r"\w[\w-]*\.\w[\w-]*",
    TableProperties.FORMAT_VERSION: "2|3",
    TableProperties.DEFAULT_WRITE_METRICS_MODE: r"none|counts|truncate\(\d+\)|full",
    TableProperties.MANIFEST_MERGE_ENABLED: _BOOLEAN,
    TableProperties.MANIFEST_MIN_MERGE_COUNT: _NUMBER,
    TableProperties.MANIFEST_TARGET_SIZE_BYTES: _NUMBER,
    TableProperties.METADATA_DELETE_AFTER_COMMIT_ENABLED: _BOOLEAN,
    TableProperties.METADATA_PREVIOUS_VERSIONS_MAX: _NUMBER,
}
# Each commit brings a manifest and a file of metadata: unless told otherwise they do not pile up.
_DEFAULTS: Final = {
    TableProperties.MANIFEST_MERGE_ENABLED: "true",
    TableProperties.METADATA_DELETE_AFTER_COMMIT_ENABLED: "true",
}
_LOCK_TIMEOUT_S: Final = 60


@dataclass(frozen=True, slots=True)
class IcebergProperties:
    """What a table is declared with: its name, its catalog and what it gets when it is made."""

    identifier: str
    of_catalog: dict[str, str]
    of_table: dict[str, str]
    location: str

    @property
    def database(self) -> str:
        """Where the catalog is that is none of the user's."""
        return os.path.join(self.location, DATABASE)


def read_properties(options: TableOptions) -> IcebergProperties:
    of_catalog, own = {}, {}
    for name, value in options.properties.items():
        if name.startswith(CATALOG_PREFIX):
            of_catalog[name.removeprefix(CATALOG_PREFIX)] = value
        else:
            own[name] = value
    check_properties("an Iceberg", own, PROPERTIES)
    name = re.sub(r"[^\w-]", "_", os.path.basename(options.location))
    identifier = own.pop("table", f"{DEFAULT_NAMESPACE}.{name}")
    return IcebergProperties(identifier, of_catalog, _DEFAULTS | own, options.location)


def is_there(properties: IcebergProperties) -> bool:
    """Whether there is a catalog to look into; that of a user is."""
    return bool(properties.of_catalog) or os.path.exists(properties.database)


def open_catalog(properties: IcebergProperties) -> Catalog:
    if properties.of_catalog:
        try:
            return load_catalog(CATALOG_NAME, **properties.of_catalog)
        except ValueError as error:
            raise OptionError(f"properties {CATALOG_PREFIX}*: {error}") from None
    os.makedirs(properties.location, exist_ok=True)
    uri = f"sqlite:///{properties.database}?timeout={_LOCK_TIMEOUT_S}"
    try:
        return SqlCatalog(CATALOG_NAME, uri=uri, warehouse=properties.location)
    except OperationalError:
        # Somebody else has made the tables of the database at the same time.
        return SqlCatalog(CATALOG_NAME, uri=uri, warehouse=properties.location)
