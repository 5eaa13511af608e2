"""`snakka pipeline status` and `audit`: how far a pipeline is, and whether all of it is there."""

import sys
from typing import TYPE_CHECKING, Any

import click

from snakka.cli.connecting import refuse
from snakka.cli.declared import log_option, master_option, on_pipeline
from snakka.cli.output import counted, done, json_option, print_json, print_table, warning
from snakka.cli.spark import open_session

if TYPE_CHECKING:
    from snakka.pipeline.declared.audit import Audit
    from snakka.pipeline.declared.declaration import Pipeline


@click.command(epilog="Example: snakka pipeline status orders.toml --json")
@json_option
@on_pipeline
def status(declared: "Pipeline", as_json: bool) -> None:
    """Show how far a pipeline is: the offsets in its table and the ends of its topics."""
    from snakka.pipeline.declared.status import status as find_status

    found = find_status(declared)
    if as_json:
        print_json(
            [
                {
                    "topic": each.where.topic,
                    "partition": each.where.partition,
                    "first_offset": each.first_offset,
                    "offset": each.offset,
                    "end_offset": each.end_offset,
                    "lag": each.lag,
                    "lost": each.lost,
                }
                for each in found
            ]
        )
        return
    print_table(
        ["TOPIC", ">PARTITION", ">OFFSET", ">END", ">LAG", ">LOST"],
        [
            (
                each.where.topic,
                each.where.partition,
                each.offset,
                each.end_offset,
                f"{each.lag:,}",
                warning(f"{each.lost:,}") if each.lost else "0",
            )
            for each in found
        ],
    )


@click.command(epilog="Example: snakka pipeline audit orders.toml --contents")
@click.option("--contents", is_flag=True, help="Compare what is in the rows, too.")
@master_option
@log_option
@json_option
@on_pipeline
def audit(
    declared: "Pipeline", contents: bool, master: str, log: str | None, as_json: bool
) -> None:
    """Check that each record is in the table once, or a dead letter once; ends with 1 if not.

    Records are taken through the pipeline again, so what its transformation filters out is no gap.
    """
    session = open_session("snakka audit", master, log=log)
    from snakka.pipeline.declared.audit import audit as find_audit

    found = find_audit(session, declared, with_contents=contents)
    if as_json:
        print_json(_audit_document(found))
    else:
        _print_audit(found)
    if found.findings:
        wrong = sum(each.record_count for each in found.findings)
        refuse(f"{counted(wrong, 'record')} in {counted(len(found.findings), 'range')}")


def _audit_document(found: "Audit") -> dict[str, Any]:
    return {
        "partitions": [
            {
                "topic": each.range.where.topic,
                "partition": each.range.where.partition,
                "start": each.range.start,
                "end": each.range.end,
                "records": each.record_count,
                "rows": each.row_count,
                "rejected": each.rejected_count,
                "checksum": f"{each.checksum:016x}",
            }
            for each in found.partitions
        ],
        "findings": [
            {
                "what": each.what,
                "topic": each.range.where.topic,
                "partition": each.range.where.partition,
                "start": each.range.start,
                "end": each.range.end,
                "records": each.record_count,
            }
            for each in found.findings
        ],
    }


def _print_audit(found: "Audit") -> None:
    if found.findings:
        print_table(
            ["OFFSETS", ">RECORDS", "WHAT"],
            [(each.range, f"{each.record_count:,}", warning(each.what)) for each in found.findings],
        )
        sys.stdout.flush()
        return
    print_table(
        ["TOPIC", ">PARTITION", ">FROM", ">TO", ">RECORDS", ">ROWS", ">REJECTED", "CHECKSUM"],
        [
            (
                each.range.where.topic,
                each.range.where.partition,
                each.range.start,
                each.range.end,
                f"{each.record_count:,}",
                f"{each.row_count:,}",
                f"{each.rejected_count:,}",
                f"{each.checksum:016x}",
            )
            for each in found.partitions
        ],
    )
    rows = sum(each.row_count for each in found.partitions)
    done(f"{counted(rows, 'row')}, each record where it belongs, once")
