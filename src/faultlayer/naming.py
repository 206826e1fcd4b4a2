"""Name what records mean: all signatures are tried on a whole column at once."""

from collections.abc import Mapping, Set

import polars as pl

from faultlayer.vocabulary import SHORTEST, TYPES, Signature, Signatures

# Where a record's own words tell no more than that something went wrong, the error that
# it names says what did.
_VAGUE = frozenset(
    ["request_failed", "upstream_error", "request_rejected", "request_completed"]
)
_LONGER = 12  # characters that polars compares as one number
_CALM = ("info", "debug", "trace", "notice")
_ERROR = (
    r"(?:^|[\s(\[{])(?:(?:upstream|last|root|inner)_)?(?:error|err|errmsg|error_msg|error_message|exception|reason"
    r"|detail|cause|message)"
    r"""=(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s"',;\])}]+)"""
)
# What a gateway does beside a request: that it failed is no reason that the request did.
_BESIDE = (
    r"(?i)^(?:(?:failed|unable) to |could not |cannot |error )?(?:\w+ ){0,2}"
    r"(?:cache|redis|audit|webhooks?|callbacks?|metrics?|telemetry|tracing|traces?|spans?"
    r"|analytics|notifications?|tools?|loggers?|log sink)\b"
)

# A gateway's record may begin with whose it is: `[4f..-..] quota exceeded`, `request
# 4f..-..: quota exceeded`. What it says of the request itself goes on without a colon.
_UUID = r"[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}"
_WHOSE = rf"^(?:[Rr]equest )?[\[(]?(?:(?:req|rid|req_id|request_id)[=:] ?)?{_UUID}[\])]?(?:[\s:,]+|$)"
_OF_ITSELF = (
    r"^(?:(?:was|is|has been) )?(accepted|received|started|admitted|queued|forwarded|finished|completed|done"
    r"|failed|rejected|refused|denied|blocked|throttled|cancell?ed|aborted|timed out)\b"
)


def name_kinds(records: pl.DataFrame, signatures: Signatures) -> pl.DataFrame:
    """Fill kind, kinds, severity and what the patterns capture; keep rows and order.

    `records` has text, layer, component, kind and event columns; a row whose kind is set
    is left alone, and a value that is set is never overwritten. A captured `request_id`
    goes to `raw_request_id` as logged, ids of a list to `id_parts`; the caller makes
    them canonical. Groups that are no event column are merged into `attrs`.
    """
    if "kind" in records.columns and not records["kind"].has_nulls():
        return records.with_columns(kinds=_column(records, "kinds"))
    hits, found = match(records, signatures)
    size = records.height
    names = pl.Series([kind["name"] for kind in signatures.kinds], dtype=pl.String)
    # They are in order of rank: the most specific one is written last.
    rank = pl.repeat(None, size, dtype=pl.UInt32, eager=True)
    for item, frame in reversed(found):
        rank = rank.scatter(frame["row"], item.rank)
    lists = pl.DataFrame(schema={"row": pl.UInt32, "kinds": pl.List(pl.String)})
    if hits.height > size - rank.null_count():
        lists = _several(hits, signatures, names)
    kind = names.gather(rank)
    columns: dict[str, pl.Expr | pl.Series] = {
        "kind": pl.coalesce(_column(records, "kind"), kind, pl.lit("other")),
        "kinds": pl.coalesce(
            _column(records, "kinds"), _scatter(size, lists["row"], lists["kinds"])
        ),
    }
    for name, parts in _captured(records, found).items():
        values = pl.concat(parts).unique("row", keep="first", maintain_order=True)
        new = _scatter(size, values["row"], values["value"])
        old = _column(records, name)
        if old.dtype not in {new.dtype, pl.Null}:  # formats may keep text until later
            new = new.cast(old.dtype, strict=False)
        columns[name] = pl.coalesce(old, new)
    columns["attrs"] = _attrs(records, found)
    return records.with_columns(**columns)


def _several(
    hits: pl.DataFrame, signatures: Signatures, names: pl.Series
) -> pl.DataFrame:
    """Give the kinds of rows that have more than one, in order of rank."""
    ranks = pl.Series([item.rank for item in signatures.items], dtype=pl.UInt32)
    return (
        hits.with_columns(rank=ranks.gather(hits["sig"]))
        .select("row", "rank")
        .filter(pl.col("row").is_duplicated())
        .unique()
        .sort("row", "rank")
        .group_by("row", maintain_order=True)
        .agg(pl.lit(names).gather(pl.col("rank")).alias("kinds"))
        .filter(pl.col("kinds").list.len() > 1)
    )


_Found = list[tuple[Signature, pl.DataFrame]]


def match(records: pl.DataFrame, signatures: Signatures) -> tuple[pl.DataFrame, _Found]:
    """Try all signatures: pairs of row and sig (index), and the captures in rank order."""
    known = _column(records, "request_id").is_not_null().alias("known")
    todo = records.select("text", "layer", "component", "kind", known)
    todo = todo.with_row_index("row").filter(pl.col("kind").is_null()).drop("kind")
    todo = _addressed(todo)
    there = {name: set(todo[name].unique()) for name in ("layer", "component")}
    items = {
        index: item
        for index, item in enumerate(signatures.items)
        if (not item.layers or there["layer"].intersection(item.layers))
        and (not item.components or there["component"].intersection(item.components))
    }
    found: dict[int, pl.DataFrame] = {}
    # Exclusive ones come first and take their rows away: what follows in them is user
    # text or a dump. The common records of a request's life end here, at a prefix.
    heads = {
        size: set(todo["text"].str.head(size).unique()) for size in (SHORTEST, _LONGER)
    }
    only = {
        index: item
        for index, item in items.items()
        if item.exclusive and any(_begins(text, heads) for text in item.literals)
    }
    masks = todo.select(
        pl.all_horizontal(item.starts(), *item.applies(there)).alias(str(index))
        for index, item in only.items()
    )
    for index, item in only.items():
        if masks[str(index)].any():
            found[index] = _take(item, todo.filter(masks[str(index)]))
    if found:
        rows = pl.concat([frame.select("row") for frame in found.values()])
        todo = todo.join(rows, on="row", how="anti", maintain_order="left")
    others = {index: item for index, item in items.items() if not item.exclusive}
    found |= _search(todo, others, there, signatures.unread)
    errors = _errors(records, signatures, found)
    for index, frame in _search(errors, others, there, signatures.unread).items():
        found[index] = pl.concat([found[index], frame]) if index in found else frame
    pairs = [
        frame.select("row", sig=pl.lit(index, pl.UInt32))
        for index, frame in found.items()
    ]
    hits = (
        pl.concat(pairs)
        if pairs
        else pl.DataFrame(schema={"row": pl.UInt32, "sig": pl.UInt32})
    )
    return hits, [(signatures.items[index], found[index]) for index in sorted(found)]


def _addressed(todo: pl.DataFrame) -> pl.DataFrame:
    """Leave out whose a gateway's record is, where it begins with that."""
    text = pl.col("text")
    mine = todo.select(
        pl.col("known") & (pl.col("layer") == "harness") & text.str.contains(_WHOSE)
    ).to_series()
    if not mine.any():
        return todo
    said = text.str.replace(_WHOSE, "").str.replace(_OF_ITSELF, "request ${1}")
    return todo.with_columns(text=pl.when(mine).then(said).otherwise(text))


def _begins(literal: str, heads: Mapping[int, Set[str | None]]) -> bool:
    """Tell whether some text may begin with a literal, by the first characters of all."""
    size = _LONGER if len(literal) >= _LONGER else SHORTEST
    return literal[:size] in heads[size]


def _errors(
    records: pl.DataFrame, signatures: Signatures, found: dict[int, pl.DataFrame]
) -> pl.DataFrame:
    """Give the errors that records name which say nothing themselves, one a line."""
    told = [
        frame.select("row")
        for index, frame in found.items()
        if signatures.items[index].kind not in _VAGUE
    ]
    severity = _column(records, "severity")
    known = _column(records, "request_id").is_not_null()
    text = pl.col("text")
    some = (
        records.select(
            "text", "layer", "component", "kind", severity=severity, known=known
        )
        .with_row_index("row")
        .filter(
            pl.col("kind").is_null(),
            ~pl.col("severity").is_in(_CALM).fill_null(value=False),
            text.str.contains("=", literal=True),
            ~(text.str.contains(_BESIDE) & (pl.col("layer") == "harness")),
        )
        .drop("kind", "severity")
    )
    if signatures.unread:
        some = some.with_columns(text.str.replace_all(signatures.unread, ""))
    if told:
        some = some.join(pl.concat(told), on="row", how="anti", maintain_order="left")
    one = pl.element().str.replace(r"^[^=]*=", "")
    bare = (
        pl.when(one.str.contains("^[\"']"))
        .then(one.str.slice(1).str.head(-1).str.replace_all(r"\\n", "\n"))
        .otherwise(one)
        .str.replace_all(r"\\(.)", "${1}")
    )
    said = text.str.extract_all(_ERROR).list.eval(bare).list.join("\n")
    return some.with_columns(text=said).filter(text != "")


def _search(
    todo: pl.DataFrame,
    items: dict[int, Signature],
    there: Mapping[str, Set[str | None]],
    unread: str | None,
) -> dict[int, pl.DataFrame]:
    """Find the literals of all items in one pass, then try each item where one stands."""
    literals = sorted({text for item in items.values() for text in item.literals})
    todo = todo.filter(pl.col("text").str.contains_any(literals))
    text = pl.col("text")
    beside = (pl.col("layer") == "harness") & text.str.contains(_BESIDE)
    if todo.select(beside.any()).item():
        bare = pl.when(beside).then(text.str.replace_all(_ERROR, " ")).otherwise(text)
        todo = todo.with_columns(bare)
    if unread:
        todo = todo.with_columns(pl.col("text").str.replace_all(unread, ""))
    if todo.is_empty():
        return {}
    owners = pl.DataFrame(
        [(text, index) for index, item in items.items() for text in item.literals],
        schema={"literal": pl.String, "sig": pl.UInt32},
        orient="row",
    )
    places = (
        todo.select(
            literal=pl.col("text")
            .str.extract_many(literals, overlapping=True)
            .list.unique(),
        )
        .with_row_index("place")
        .explode("literal")
        .join(owners, on="literal")
        .select("sig", "place")
        .unique()
        .sort("sig", "place")
        .group_by("sig", maintain_order=True)
        .agg("place")
    )
    found = {}
    for index, rows in places.iter_rows():
        taken = _take(items[index], todo[rows].filter(*items[index].applies(there)))
        if taken.height:
            found[index] = taken
    return found


def _take(item: Signature, rows: pl.DataFrame) -> pl.DataFrame:
    """Keep the rows that an item matches; add its groups and ids as columns."""
    text = pl.col("text")
    if item.regex:
        fits = rows["text"].str.contains(item.regex)
        if not fits.all(ignore_nulls=False):
            rows = rows.filter(fits)
    elif item.at == "start":
        rows = rows.filter(item.starts())
    if item.regex and item.groups:
        asked = text
        if item.groups == ("request_id",):  # which is not taken where one is known
            asked = pl.when(~pl.col("known")).then(text)
        rows = rows.with_columns(_g=asked.str.extract_groups(item.regex)).unnest("_g")
    if item.at_least:
        value, limit = (pl.col(name).cast(pl.Float64) for name in item.at_least)
        rows = rows.filter(value >= limit)
    if item.ids:
        within = text
        if item.ids_within:
            within = text.str.extract_all(item.ids_within).list.join(" ")
        ids = within.str.extract_all(item.ids).list.eval(
            pl.element().str.extract(item.ids, 1)
        )
        rows = rows.with_columns(id_parts=ids.list.unique(maintain_order=True))
    return rows.drop("text", "layer", "component", "known")


def _captured(records: pl.DataFrame, found: _Found) -> dict[str, list[pl.DataFrame]]:
    """Give per event column the frames of row and value, the most specific first."""
    updates: dict[str, list[pl.DataFrame]] = {}
    named = (
        records["request_id"].is_not_null() if "request_id" in records.columns else None
    )
    for item, frame in found:
        for group in item.groups:
            if group not in TYPES:
                continue
            name = "raw_request_id" if group == "request_id" else group
            part = frame.filter(pl.col(group) != "").select(
                "row", value=pl.col(group).cast(TYPES[name], strict=False)
            )
            part = part.drop_nulls()
            if group == "request_id" and named is not None:
                part = part.filter(~named.gather(part["row"]))
            updates.setdefault(name, []).append(part)
        if item.ids:
            part = frame.select("row", value="id_parts")
            least = 1 if "request_id" in item.groups else 0  # one id is no list
            part = part.filter(pl.col("value").list.len() > least)
            updates.setdefault("id_parts", []).append(part)
        if item.severity:
            part = frame.select("row", value=pl.lit(item.severity))
            updates.setdefault("severity", []).append(part)
    return updates


def _attrs(records: pl.DataFrame, found: _Found) -> pl.Series:
    """Give `attrs` with the captures that are no event column added to the objects."""
    old = _column(records, "attrs")
    parts = [
        frame.filter(pl.col(group) != "").select(
            "row", name=pl.lit(group), shown=_json(group, number=group in item.numbers)
        )
        for item, frame in found
        for group in item.groups
        if group not in TYPES
    ]
    if not parts:
        return old
    pairs = pl.concat(parts).drop_nulls()
    pairs = pairs.unique(["row", "name"], keep="first", maintain_order=True)
    key = pl.format('"{}":', "name")
    known = pl.col("old").str.contains(key, literal=True).fill_null(value=False)
    added = (
        pairs.with_columns(old.gather(pairs["row"]).alias("old"), key=key)
        .filter(~known)
        .group_by("row", maintain_order=True)
        .agg(pl.col("old").first(), pl.concat_str("key", "shown").alias("pairs"))
        .with_columns(
            kept=pl.col("old").str.strip_prefix("{").str.strip_suffix("}"),
            pairs=pl.col("pairs").list.join(","),
        )
        .with_columns(
            pl.when(pl.col("kept") != "")
            .then(pl.format("{{{},{}}}", "kept", "pairs"))
            .otherwise(pl.format("{{{}}}", "pairs"))
            .alias("object")
        )
    )
    new = _scatter(records.height, added["row"], added["object"])
    return pl.select(pl.coalesce(new, old)).to_series()


def _json(group: str, *, number: bool) -> pl.Expr:
    """Show a capture as JSON; null when a number is none."""
    if number:
        return pl.col(group).str.extract(r"^(-?(?:0|[1-9]\d*)(?:\.\d+)?)$")
    encoded = pl.struct(pl.col(group).alias("v")).struct.json_encode()
    return encoded.str.extract(r'(?s)^\{"v":(.*)\}$')


def _column(records: pl.DataFrame, name: str) -> pl.Series:
    """Give a column of the records, or nulls of the type that the schema has for it."""
    if name in records.columns:
        return records[name]
    return pl.repeat(None, records.height, dtype=TYPES[name], eager=True)


def _scatter(size: int, rows: pl.Series, values: pl.Series) -> pl.Series:
    """Give a column of `size` that holds the values at their rows, else null."""
    places = pl.arange(0, values.len(), dtype=pl.UInt32, eager=True)
    index = pl.repeat(None, size, dtype=pl.UInt32, eager=True).scatter(rows, places)
    return values.gather(index)
