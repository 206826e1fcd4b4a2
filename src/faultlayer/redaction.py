"""Writes a case anew to be shared: the same verdicts, without names, addresses, texts."""

import contextlib
import secrets
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from faultlayer import assets, database, schema
from faultlayer.case import NOTES, Case, CaseWriter
from faultlayer.errors import CaseError, UsageError
from faultlayer.pseudonyms import Pseudonyms, arrow
from faultlayer.write import Writer

SALT_CHARS: Final = 16
"""So long a salt must be at least: with a short one addresses could be tried."""

ASSUMED: Final = (
    "redacted: names of people, pools and places, ids, addresses and words that no"
    " shipped format knows have pseudonyms"
)
"""What the summary and the report of such a case say of it."""

_BATCH: Final = 32_768
#: Names: replaced as a whole, and found again in texts.
_NAMES: Final = frozenset(
    {"user_id", "project_id", "tenant_id", "level_id", "some_users"}
)
_IDS: Final = frozenset({"request_id", "raw_request_id", "id_parts", "alias"})
#: What our own definitions say; no log text is in these.
_OURS: Final = frozenset(
    {
        *("kind", "kinds", "layer", "severity", "output", "cause", "role", "strength"),
        *("contributing", "scope_kind", "clock_status", "status", "encoding"),
        "layers_seen",
    }
)
#: Of the manifest: what is made anew.
_ANEW: Final = frozenset(
    {
        *("kind", "tool_version", "schema_version", "sources", "conservation", "files"),
        "command",
    }
)


def redact(
    case: Case, target: Path, salt: str | None = None, keep: Iterable[str] = ()
) -> Case:
    """Write the case without what identifies people and places to another folder.

    The same value has the same pseudonym in all tables and texts, by a hash keyed with
    `salt`: one that nobody knows unless it is given. `keep` are words to leave. Raises
    UsageError for a short salt and for the case itself as target, CaseError where
    other files are in the way.
    """
    if target.resolve() == case.path.resolve():
        raise UsageError(
            f"{target} is the case itself, and would be lost",
            hint="choose another folder with --case",
        )
    check(target, salt)
    with CaseWriter(target) as writer:
        hashes = _Hashes(salt or secrets.token_hex(32))
        try:
            pseudonyms = Pseudonyms(hashes.of, _names(case.path), keep)
            for name, columns in (("events_raw", schema.EVENTS_RAW), *_tables()):
                _table(case.path, writer, name, columns, pseudonyms)
            manifest = _manifest(case.manifest, pseudonyms)
        finally:
            hashes.close()
        return writer.finish(manifest)


def check(target: Path, salt: str | None) -> None:
    """See that a redacted case can be written; raises as `redact` does.

    What else lies in the target would be shared with the case.
    """
    if salt is not None and len(salt) < SALT_CHARS:
        raise UsageError(
            f"the salt has {len(salt)} characters, it needs {SALT_CHARS}",
            hint="for example the output of: openssl rand -hex 16",
        )
    if not target.is_dir():
        return
    ours = {"case.json", "case.duckdb", "events", "rejects", NOTES}
    ours |= {f"{name}.parquet" for name in schema.TABLES}
    others = sorted(one.name for one in target.iterdir() if one.name not in ours)
    if others:
        raise CaseError(
            f"{target} holds {others[0]}, which is no part of a case",
            hint="choose another folder with --case, or move it away",
        )


@contextlib.contextmanager
def beside(target: Path, redacts: bool) -> Iterator[Path]:
    """Give where to analyze: the target, or a folder beside it that goes in the end."""
    if not redacts:
        yield target
        return
    target.resolve().parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        prefix=f".{target.resolve().name}.plain-", dir=target.resolve().parent
    ) as folder:
        yield Path(folder) / "case"


class _Hashes:
    """Keyed hashes of texts, worked out by the database."""

    def __init__(self, salt: str) -> None:
        self._con = database.connect()
        self._salt = salt

    def of(self, values: pl.Series) -> pl.Series:
        """Give an `x` and 56 bits in hexadecimal for each text."""
        self._con.register("given", arrow(values))
        found = self._con.sql(
            "SELECT 'x' || substr(sha256($salt || chr(10) || value), 1, 14) AS hash"
            " FROM given",
            params={"salt": self._salt},
        ).to_arrow_table()
        self._con.unregister("given")
        return pl.Series(values.name, found.column("hash"), dtype=pl.String)

    def close(self) -> None:
        """Close the database."""
        self._con.close()


def _tables() -> Iterable[tuple[str, tuple[schema.Column, ...]]]:
    return schema.TABLES.items()


def _names(case_dir: Path) -> pl.Series:
    """Give the names of people and pools, of all tables that have some."""
    asked = []
    for name, columns in (("events_raw", schema.EVENTS_RAW), *_tables()):
        for column in columns:
            if column.name in _NAMES:
                value = column.name
                if pa.types.is_list(column.type):
                    value = f"unnest({value})"
                asked.append(f"SELECT {value} AS name FROM {name}")
    with database.reading(case_dir) as con:
        found = con.sql(
            f"SELECT DISTINCT name FROM ({' UNION ALL '.join(asked)})"
            " WHERE name IS NOT NULL ORDER BY name"
        ).to_arrow_table()
    return pl.Series("name", found.column("name"), dtype=pl.String)


def _table(
    case_dir: Path,
    writer: CaseWriter,
    name: str,
    columns: tuple[schema.Column, ...],
    pseudonyms: Pseudonyms,
) -> None:
    """Write the files of a table anew, some rows at once."""
    for file in database.parquet_files(case_dir, name):
        place = writer.path / file.relative_to(case_dir)
        read = pq.ParquetFile(file).iter_batches(
            _BATCH, columns=[one.name for one in columns]
        )
        changed = (_changed(pl.DataFrame(batch), columns, pseudonyms) for batch in read)
        if name in {"events_raw", "rejects"}:
            bloom = "request_id" if name == "events_raw" else None
            with Writer(place, columns, bloom) as rows:
                for part in changed:
                    rows.add(part)
            continue
        wanted = schema.arrow(columns)
        with pq.ParquetWriter(place, wanted, compression="zstd") as tables:
            for part in changed:
                tables.write_table(part.to_arrow().select(wanted.names).cast(wanted))


def _changed(
    rows: pl.DataFrame, columns: tuple[schema.Column, ...], pseudonyms: Pseudonyms
) -> pl.DataFrame:
    """Replace what a batch of a table says, column by column."""
    for column in columns:
        if column.name in _OURS:
            continue
        if pa.types.is_string(column.type):
            values = _replaced(rows.get_column(column.name), column.name, pseudonyms)
        elif column.type == pa.list_(pa.string()):
            values = _each(rows.get_column(column.name), column.name, pseudonyms)
        else:
            continue
        rows = rows.with_columns(values.alias(column.name))
    return rows


def _replaced(values: pl.Series, name: str, pseudonyms: Pseudonyms) -> pl.Series:
    values = values.cast(pl.String)
    if name in _NAMES or name in _IDS or name == "sha256":
        return pseudonyms.whole(values)
    return pseudonyms.text(values, json=name == "attrs")


def _each(lists: pl.Series, name: str, pseudonyms: Pseudonyms) -> pl.Series:
    """Replace the items of lists; an empty list and NULL stay what they are."""
    frame = lists.alias("list").to_frame().with_row_index("row")
    items = frame.filter(pl.col("list").list.len() > 0).explode("list")
    items = items.with_columns(
        _replaced(items.get_column("list"), name, pseudonyms).alias("list")
    )
    put = items.group_by("row", maintain_order=True).agg("list")
    joined = frame.join(put, on="row", how="left", maintain_order="left")
    return joined.select(pl.coalesce("list_right", "list")).to_series()


def _manifest(manifest: Mapping[str, Any], pseudonyms: Pseudonyms) -> dict[str, Any]:
    """Give the entries of the manifest that `finish` does not make itself."""
    ours = assets.hashes()
    definitions = manifest.get("definitions", {})
    given = {key: value for key, value in definitions.items() if key not in ours}
    rest = {
        key: value
        for key, value in manifest.items()
        if key not in _ANEW | {"definitions"}
    }
    said = list(dict.fromkeys([*_strings(given), *_strings([*rest.values()])]))
    put = pseudonyms.text(pl.Series(said, dtype=pl.String))
    texts = dict(zip(said, put, strict=True))
    redacted = {key: _put(value, texts) for key, value in rest.items()}
    return {
        **redacted,
        "assumed": [*redacted.get("assumed", []), ASSUMED],
        "command": "faultlayer redact",
        "definitions": {
            key: hashed for key, hashed in definitions.items() if key in ours
        }
        | _put(given, texts),
        "redacted": True,
    }


def _strings(value: object) -> Iterator[str]:
    """Give every text of an entry, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield key
            yield from _strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one)


def _put(value: Any, texts: Mapping[str, str]) -> Any:
    """Replace every text of an entry."""
    if isinstance(value, dict):
        return {texts[key]: _put(one, texts) for key, one in value.items()}
    if isinstance(value, list):
        return [_put(one, texts) for one in value]
    return texts[value] if isinstance(value, str) else value
