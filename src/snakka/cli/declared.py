"""What the commands on a declared pipeline share: its file, Spark, and what goes wrong."""

import re
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, Final, ParamSpec

import click

from snakka.cli.connecting import refuse
from snakka.cli.settings import refuse as refuse_declaration
from snakka.client.errors import ClientError
from snakka.config.problems import ConfigurationError

if TYPE_CHECKING:
    from snakka.pipeline.declared.declaration import Pipeline

_P = ParamSpec("_P")
# The last line of a traceback that Spark hands over as text.
_OUR_ERROR: Final = re.compile(r"^\s*snakka\.[\w.]+: (.+)$", re.MULTILINE)


def on_pipeline(command: "Callable[Concatenate[Pipeline, _P], None]") -> Callable[..., None]:
    """Hands a command the pipeline of its file, and says in one line what goes wrong."""

    @click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
    @wraps(command)
    def run(file: Path, *arguments: _P.args, **options: _P.kwargs) -> None:
        try:
            from snakka.pipeline.declared.declaration_file import load_pipeline
            from snakka.pipeline.errors import OptionError, SchemaError
        except ImportError as error:
            refuse(f"{error.name} is missing: pip install 'snakka[tables]'")
        try:
            command(load_pipeline(file), *arguments, **options)
        except ConfigurationError as error:
            refuse_declaration(*map(str, error.problems))
        except (OptionError, SchemaError) as error:
            refuse_declaration(f"{file}: {error}")
        except ClientError as error:
            refuse(str(error))

    return run


master_option = click.option(
    "--master", metavar="URL", default="local[*]", show_default=True, help="Where Spark runs."
)
log_option = click.option(
    "--spark-log", "log", metavar="PATH", help="Where Spark's own log goes; nowhere if not given."
)


def one_line(error: BaseException) -> str:
    """What an error says, or what an error of ours says that Spark has wrapped in others."""
    text = str(error).strip()
    found = _OUR_ERROR.findall(text)
    lines = found[-1:] or text.splitlines()[:1] or [type(error).__name__]
    return str(lines[0]).strip()
