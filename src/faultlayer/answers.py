"""Writes the answer of a query: for people as a table, for programs as data.

Tables and Markdown are for eyes: safe for a terminal, secrets masked. CSV, JSON and
Parquet are data and hold what the case holds.
"""

import contextlib
import datetime as dt
import decimal
import io
import json
import math
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TextIO

import duckdb
import pyarrow.parquet as pq

from faultlayer import database, misnamed, render
from faultlayer.errors import UsageError
from faultlayer.masking import safe, shown
from faultlayer.render import Cell, Table

FORMATS = ("table", "csv", "json", "jsonl", "parquet", "md")
ROWS = 200
"""Rows of a table on the screen, unless asked for more."""

_BATCH = 2000
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_SUFFIXES = {
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".md": "md",
    ".txt": "table",
}
_TIMES = {"TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "DATE", "TIME", "INTERVAL"}
_NUMBERS = ("INT", "DOUBLE", "FLOAT", "DECIMAL", "HUGEINT")

Rows = Iterator[list[tuple[Any, ...]]]


def format_of(kind: str | None, output: Path | None) -> str:
    """Choose the format: as given, else by the file's name, else a table."""
    if kind:
        return kind
    return _SUFFIXES.get(output.suffix.lower(), "table") if output else "table"


def answer(
    con: duckdb.DuckDBPyConnection,
    statement: str,
    kind: str,
    *,
    parameters: Mapping[str, object] | None = None,
    output: Path | None = None,
    limit: int = ROWS,
    screen: TextIO | None = None,
) -> str:
    """Run one statement and write its answer; gives a note for the person, or "".

    `parameters` are bound to the `$names` of the statement. To `output` it is written
    as a whole or not at all, without it to `screen` or stdout. `limit` rows of a table are shown, 0 means all. Raises
    UsageError for what DuckDB refuses.
    """
    bound = dict(parameters or {})
    database.stopped()  # what came before is not about this statement
    try:
        if kind == "parquet":
            return _parquet(con, statement, bound, output)
        result = con.execute(statement, bound)
        if result.description is None:
            return "done, no rows"
        columns = [(item[0], str(item[1])) for item in result.description]
        rows = _batches(result)
        if output is None:
            return _written(kind, columns, rows, screen or sys.stdout, limit=limit)
        with whole(output) as file:
            text = io.TextIOWrapper(file, "utf-8", newline="")
            note = _written(kind, columns, rows, text, limit=limit)
            text.flush()
            text.detach()
            return note
    except duckdb.Error as error:
        raise refused(error, statement) from error


def refused(error: duckdb.Error, statement: str = "") -> UsageError:
    """Turn what DuckDB says into a message for the person who typed the statement."""
    late = "maximum execution time" in str(error)
    if "nterrupted" in str(error):
        if database.stopped():
            raise KeyboardInterrupt from error
        late = True
    lines = [safe(line) for line in str(error).strip().split("\n") if line.strip()]
    hint = misnamed.hint(str(error), statement)
    if isinstance(error, duckdb.PermissionException):
        hint = "a case is read alone: no files, no network, no settings"
    elif isinstance(error, duckdb.OutOfMemoryException):
        hint = "select fewer columns or rows"
    elif late:
        return UsageError("the query takes longer than --timeout")
    return UsageError("\n".join(lines), hint=hint)


def _batches(result: duckdb.DuckDBPyConnection) -> Rows:
    while batch := result.fetchmany(_BATCH):
        yield batch


def _written(
    kind: str,
    columns: Sequence[tuple[str, str]],
    batches: Rows,
    file: TextIO,
    *,
    limit: int,
) -> str:
    terminal = file.isatty()
    names = [name for name, _ in columns]
    if kind == "table":
        return _table(columns, batches, file, limit)
    writers: dict[str, Callable[[], None]] = {
        "csv": lambda: _csv(names, batches, file, terminal=terminal),
        "json": lambda: _json(names, batches, file, terminal=terminal),
        "jsonl": lambda: _jsonl(names, batches, file, terminal=terminal),
        "md": lambda: _markdown(columns, batches, file),
    }
    writers[kind]()
    return ""


def _table(
    columns: Sequence[tuple[str, str]], batches: Rows, file: TextIO, limit: int
) -> str:
    screen = render.console(file)
    width = screen.width if file.isatty() else None
    kept: list[tuple[Any, ...]] = []
    total = 0
    for batch in batches:
        total += len(batch)
        kept += batch if not limit else batch[: max(limit - len(kept), 0)]
    table = Table(
        [safe(name) for name, _ in columns],
        [[_cell(value) for value in row] for row in kept],
        right=frozenset(n for n, item in enumerate(columns) if _is_number(item[1])),
        whole=frozenset(n for n, item in enumerate(columns) if item[1] in _TIMES),
    )
    if width is not None and kept and not render.fits(table, width):
        render.put(screen, render.stacked(table, width))
    else:
        render.put(screen, render.tabulated(table, width))
    if total > len(kept):
        return (
            f"{len(kept)} of {total:,} rows shown; --rows 0 shows all,"
            " --format csv writes all"
        )
    return f"{total:,} {'row' if total == 1 else 'rows'}" if file.isatty() else ""


def _cell(value: Any) -> Cell:
    return render.NULL if value is None else Cell(shown(text_of(value)))


def _is_number(kind: str) -> bool:
    return not kind.endswith("]") and any(word in kind for word in _NUMBERS)


def text_of(value: Any) -> str:
    """Spell a value as text: times in UTC as `2026-11-30 14:20:05.5`, lists as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dt.datetime):
        text = value.replace(tzinfo=None).isoformat(" ", "microseconds")
        return text.rstrip("0").rstrip(".")
    if isinstance(value, list | dict | tuple):
        return json.dumps(json_value(value), ensure_ascii=False)
    spelled = json_value(value)
    return "" if spelled is None else str(spelled)


def json_value(value: Any) -> Any:  # noqa: PLR0911 - one return a type
    """Give a value that JSON can hold: times in ISO 8601, what is no number as null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int | bool):
        return value
    if isinstance(value, dt.datetime):
        moment = value.astimezone(dt.UTC) if value.tzinfo else value
        return moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, dict):
        return {str(key): json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    return str(value)


def _csv(names: Sequence[str], batches: Rows, file: TextIO, *, terminal: bool) -> None:
    def row_of(row: Sequence[Any]) -> str:
        fields = [_field(value) for value in row]
        return ",".join(map(safe, fields) if terminal else fields) + "\n"

    file.write(row_of(names))
    for batch in batches:
        file.writelines(row_of(row) for row in batch)


def _field(value: Any) -> str:
    """Spell a CSV field; empty text is quoted, so that it differs from NULL."""
    if value is None:
        return ""
    text = _guarded(value) if isinstance(value, str) else text_of(value)
    if not text or any(char in text for char in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def _guarded(text: str) -> str:
    """Keep a spreadsheet from running text as a formula: a quote goes in front."""
    return "'" + text if text.startswith(_FORMULA) else text


def _object(names: Sequence[str], row: Sequence[Any], *, terminal: bool) -> str:
    whole = {name: json_value(value) for name, value in zip(names, row, strict=True)}
    # On a terminal as ASCII: an escape is then spelled out instead of obeyed.
    return json.dumps(whole, ensure_ascii=terminal)


def _json(names: Sequence[str], batches: Rows, file: TextIO, *, terminal: bool) -> None:
    file.write("[")
    between = "\n"
    for batch in batches:
        for row in batch:
            file.write(between + _object(names, row, terminal=terminal))
            between = ",\n"
    file.write("]\n" if between == "\n" else "\n]\n")


def _jsonl(
    names: Sequence[str], batches: Rows, file: TextIO, *, terminal: bool
) -> None:
    for batch in batches:
        file.writelines(_object(names, row, terminal=terminal) + "\n" for row in batch)


def _markdown(columns: Sequence[tuple[str, str]], batches: Rows, file: TextIO) -> None:
    def row_of(cells: Iterator[str]) -> str:
        return "| " + " | ".join(cells) + " |\n"

    file.write(row_of(_md(name) for name, _ in columns))
    file.write(row_of("--:" if _is_number(kind) else "---" for _, kind in columns))
    for batch in batches:
        file.writelines(row_of(_md(text_of(value)) for value in row) for row in batch)


def _md(text: str) -> str:
    text = shown(text).replace("\\", "\\\\").replace("|", "\\|")
    return text.replace("<", "&lt;").replace("`", "\\`")


def _parquet(
    con: duckdb.DuckDBPyConnection,
    statement: str,
    parameters: dict[str, object],
    output: Path | None,
) -> str:
    if output is None and sys.stdout.isatty():
        raise UsageError(
            "Parquet is no text for a terminal", hint="give -o FILE.parquet"
        )
    reader = con.sql(statement, params=parameters).to_arrow_reader(122_880)
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(whole(output)) if output else sys.stdout.buffer
        writer = pq.ParquetWriter(file, reader.schema, compression="zstd")
        for batch in reader:
            writer.write_batch(batch)
        writer.close()
    return ""


@contextlib.contextmanager
def whole(output: Path) -> Iterator[IO[bytes]]:
    """Open a file that takes its name only when it is complete."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{output.name}.", dir=output.parent)
    except OSError as error:
        raise UsageError(
            f"{output} cannot be written: {error.strerror or error}"
        ) from error
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        mask = os.umask(0)
        os.umask(mask)
        part.chmod(0o666 & ~mask)
        part.replace(output)
    except OSError as error:
        raise UsageError(
            f"{output} cannot be written: {error.strerror or error}"
        ) from error
    finally:
        part.unlink(missing_ok=True)
