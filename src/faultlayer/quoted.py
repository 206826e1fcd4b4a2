"""Compiles an nginx `log_format` to splits of whole columns at quotes and literals."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

import polars as pl

from faultlayer.compile import HIT, TIME_LOCAL, Match, PatternError, Plan, kept
from faultlayer.span import Span

_TIME_LOCAL_WIDTH: Final = 26

# What nginx can put into a variable. Everything else is text that a client may choose.
_NUMBERS: Final = {
    "status": pl.Int32,
    "body_bytes_sent": pl.Int64,
    "bytes_sent": pl.Int64,
    "request_length": pl.Int64,
    "request_time": pl.Float64,
    "msec": pl.Float64,
    "connection": pl.Int64,
    "connection_requests": pl.Int64,
    "pid": pl.Int64,
}
_TOKENS: Final = frozenset(
    {
        "remote_addr",
        "remote_port",
        "request_id",
        "request_method",
        "server_protocol",
        "scheme",
        "server_port",
        "server_addr",
        "time_iso8601",
        "request_completion",
        "pipe",
        "ssl_protocol",
        "ssl_cipher",
    }
)
# Lists of upstreams hold spaces; between spaces only their items tell where they end.
_ADDRESS: Final = r'[^\s",]*'
_SECONDS: Final = r"(?:-|\d+(?:\.\d+)?)?"
_COUNT: Final = r"(?:-|\d+)?"
#: What the lists of nginx's upstream variables look like.
LISTS: Final = {
    name: rf"{item}(?:(?:, | : ){item})*"
    for name, item in {
        "upstream_addr": _ADDRESS,
        "upstream_status": r"(?:-|\d{3})?",
        "upstream_connect_time": _SECONDS,
        "upstream_header_time": _SECONDS,
        "upstream_response_time": _SECONDS,
        "upstream_response_length": _COUNT,
        "upstream_bytes_received": _COUNT,
        "upstream_bytes_sent": _COUNT,
    }.items()
}
_VARIABLE: Final = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


@dataclass(frozen=True, slots=True)
class Token:
    """A literal (`name` empty) or a variable of a `log_format`."""

    text: str
    name: str = ""
    shape: str = ""  # of a list that stands between spaces


def tokens(log_format: str) -> list[Token]:
    """Split a `log_format` string into literals and variables."""
    found: list[Token] = []
    end = 0
    for match in _VARIABLE.finditer(log_format):
        if match.start() > end:
            found.append(Token(log_format[end : match.start()]))
        found.append(Token(match.group(), match.group(1) or match.group(2)))
        end = match.end()
    if end < len(log_format):
        found.append(Token(log_format[end:]))
    names = [token.name for token in found if token.name]
    if not names:
        msg = "log_format has no variable"
        raise PatternError(msg)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        msg = f"log_format has ${twice[0]} twice"
        raise PatternError(msg)
    for left, right in pairwise(found):
        if left.name and right.name:
            msg = f"nothing separates ${left.name} from ${right.name}"
            raise PatternError(msg)
    around = [" ", *(token.text for token in found), " "]
    return [
        replace(token, shape=LISTS.get(token.name, ""))
        if around[at] == " " == around[at + 2]
        else token
        for at, token in enumerate(found)
    ]


def _pieces(found: Sequence[Token]) -> list[list[Token]]:
    """Cut the tokens at each `"`."""
    pieces: list[list[Token]] = [[]]
    for token in found:
        if token.name:
            pieces[-1].append(token)
            continue
        first, *rest = token.text.split('"')
        if first:
            pieces[-1].append(Token(first))
        pieces += [[Token(part)] if part else [] for part in rest]
    return pieces


@dataclass(slots=True)
class _Stages:
    """Expressions by stage; a stage may use columns of the stages before it.

    `values` come after all stages: what is both checked and given is computed once.
    """

    columns: list[dict[str, pl.Expr]] = field(default_factory=list)
    values: dict[str, pl.Expr] = field(default_factory=dict)
    valid: list[pl.Expr] = field(default_factory=list)
    fields: dict[str, pl.Expr] = field(default_factory=dict)

    def add(self, stage: int, name: str, expr: pl.Expr) -> pl.Expr:
        while len(self.columns) <= stage:
            self.columns.append({})
        self.columns[stage][name] = expr
        return pl.col(name)

    def value(self, name: str, expr: pl.Expr) -> pl.Expr:
        self.values[f"value_{name}"] = expr
        return pl.col(f"value_{name}")


def quote_plan(log_format: str, drop: Collection[str] = ()) -> Plan:
    """Compile a `log_format` to splits at `"` and at the literals between.

    Variables in `drop` are checked like the others, but not given.

    nginx writes no raw `"` inside a variable, so the pieces between quotes are exact. A
    line that splits in more than one way is left to `log_regex`.
    """
    pieces = _pieces(tokens(log_format))
    stages = _Stages()
    count = len(pieces)
    # A regex engine sees each byte several times, a split only once: half the CPU.
    split = pl.col("text").str.splitn('"', count + 1)
    for number, piece in enumerate(pieces):
        _segment(stages, pl.col(f"field_{number}"), piece, f"p{number}", drop)
    present = pl.col(f"field_{count - 1}").is_not_null()
    valid = [present, pl.col(f"field_{count}").is_null(), *stages.valid]
    fields = {name: expr for name, expr in stages.fields.items() if name not in drop}
    names = tuple(fields)

    def match(text: pl.Series) -> Match:
        frame = text.to_frame("text").lazy().select(split.alias("split"))
        frame = frame.unnest("split")
        for columns in stages.columns:
            # A stage each, or one split would be computed again for every field.
            frame = frame.with_columns(**columns)
        frame = frame.with_columns(**stages.values)
        hit = pl.all_horizontal(valid).alias(HIT)
        return kept(frame.select(hit, **fields).collect(), names)

    return Plan(match, names, re.compile(log_regex(log_format)).fullmatch)


def _segment(
    stages: _Stages,
    column: pl.Expr,
    piece: Sequence[Token],
    name: str,
    drop: Collection[str],
) -> None:
    """Add the expressions that take one piece between quotes apart."""
    parts = list(piece)
    if not any(part.name for part in parts):
        literal = "".join(part.text for part in parts)
        stages.valid.append(column == literal)
        return
    span = Span(column)
    if parts[0].text and not parts[0].name:
        literal = parts.pop(0).text
        stages.valid.append(span.after(literal))
    # A number or a time is never empty: the ends cannot overlap what is before it.
    solid = any(part.name in _NUMBERS or part.name == "time_local" for part in parts)
    if not parts[-1].name:
        literal = parts.pop().text
        stages.valid.append((column if solid else span.expr).str.ends_with(literal))
        span.end += len(literal)
    if len(parts) > 1 and parts[-1].name == "time_local":
        # A fixed width from the right: the user before it may hold any character.
        _variable(stages, parts.pop(), span.last(_TIME_LOCAL_WIDTH))
        literal = parts.pop().text
        span.end += _TIME_LOCAL_WIDTH
        stages.valid.append(span.last(len(literal)) == literal)
        span.end += len(literal)
    if len(parts) > 1 and parts[0].name == "status":
        # Three digits, whatever the status.
        _variable(stages, parts.pop(0), span.first(3))
        literal = parts.pop(0).text
        span.start += 3
        stages.valid.append(span.after(literal))
    if _is_address(parts, drop) and not span.start:
        _address(stages, span, parts, name)
        return
    _cut_up(stages, span.expr, parts, name, drop)


def _is_address(parts: Sequence[Token], drop: Collection[str]) -> bool:
    """Tell whether an address is wanted, and nothing behind the space that ends it."""
    return (
        len(parts) == 3  # noqa: PLR2004
        and parts[0].name == "remote_addr"
        and parts[1].text.startswith(" ")
        and parts[2].name in drop
    )


def _address(stages: _Stages, span: Span, parts: Sequence[Token], name: str) -> None:
    """Add what cuts an address off: it ends at the first space of the piece."""
    literal = parts[1].text
    end = stages.add(0, f"{name}_0", span.piece.str.find(" ", literal=True))
    stages.valid.append(span.piece.str.slice(end, len(literal)) == literal)
    # The literal and what is behind the variable may not share a character. Bytes are
    # no fewer than characters; only the variable that may lie between has more of them.
    stages.valid.append(end + (len(literal) + span.end) <= span.piece.str.len_bytes())
    stages.fields["remote_addr"] = span.piece.str.head(end)


def _cut_up(
    stages: _Stages,
    column: pl.Expr,
    parts: list[Token],
    name: str,
    drop: Collection[str],
) -> None:
    """Add what cuts variables at the literals between them, from the left."""
    stage = 0
    while len(parts) > 1:
        variable, literal = parts.pop(0), parts.pop(0).text
        if len(parts) == 1 and parts[0].name in drop and variable.name in _TOKENS:
            # What follows is not wanted: look where it begins, and cut there.
            end = stages.add(
                stage, f"{name}_{stage}", column.str.find(literal, literal=True)
            )
            stages.valid.append(end.is_not_null())
            column = column.str.head(end)
            parts[0] = variable
            break
        certain = variable.name in _NUMBERS or variable.name in _TOKENS
        if len(parts) == 1 and not certain:
            column = _last_cut(stages, stage, column, variable, literal, name)
            break
        split = column.str.splitn(literal, 2 if certain else 3)
        cut = stages.add(stage, f"{name}_{stage}", split).struct
        if not certain:
            stages.valid.append(cut.field("field_2").is_null())
        _variable(stages, variable, cut.field("field_0"))
        column = cut.field("field_1")
        if parts[0].name not in _NUMBERS:
            stages.valid.append(column.is_not_null())
        stage += 1
    _variable(stages, parts[0], column)


def _last_cut(
    stages: _Stages,
    stage: int,
    column: pl.Expr,
    left: Token,
    literal: str,
    name: str,
) -> pl.Expr:
    """Cut at the only place of a literal, and give what is behind it.

    It costs less than a split into three.
    """
    whole = stages.add(stage, f"{name}_{stage}", column)
    place = whole.str.find(literal, literal=True)
    end = stages.add(stage + 1, f"{name}_{stage}_end", place)
    before = stages.add(stage + 2, f"{name}_{stage}_left", whole.str.head(end))
    after = whole.str.slice(end + len(literal))
    after = stages.add(stage + 2, f"{name}_{stage}_right", after)
    # The place is in bytes, heads and slices count characters: more bytes than
    # characters are left to the regex.
    stages.valid.append((before.str.len_bytes() == end) & end.is_not_null())
    stages.valid.append(~after.str.contains(literal, literal=True))
    _variable(stages, left, before)
    return after


def _variable(stages: _Stages, token: Token, column: pl.Expr) -> None:
    dtype = _NUMBERS.get(token.name)
    if dtype is not None:
        # The cast is the check: what is no number is not this line shape.
        column = stages.value(token.name, column.cast(dtype, strict=False))
        if token.name == "status":
            # The few `000` of nginx are left to the regex: to tell them from `-20`
            # would cost every other line a look.
            stages.valid.append(column >= 100)  # noqa: PLR2004
        elif dtype == pl.Float64:
            stages.valid.append(column.is_finite())
        else:
            stages.valid.append(column.is_not_null())
    elif token.name == "time_local":
        column = column.str.to_datetime(TIME_LOCAL, time_unit="us", strict=False)
        column = stages.value(token.name, column.dt.replace_time_zone(None))
        stages.valid.append(column.is_not_null())
    elif token.shape:
        stages.valid.append(column.str.contains(f"^{token.shape}$"))
    elif token.name == "remote_addr":
        stages.valid.append(~column.str.contains(" ", literal=True))
    stages.fields[token.name] = column


def log_regex(log_format: str) -> str:
    """Give the regex of a `log_format`, for the lines that quotes cannot split.

    Where a client can write a literal into its value, the last literal counts.
    """
    quoted = False
    parts: list[str] = []
    for token in tokens(log_format):
        if not token.name:
            parts.append(re.escape(token.text).replace('\\"', '"'))
            quoted ^= token.text.count('"') % 2 == 1
            continue
        # Each takes all that `quote_plan` takes, so that either may be asked.
        if token.name == "status":
            shape = r"\d{3}"
        elif token.name in _NUMBERS:
            shape = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
        elif token.name == "time_local":
            shape = r"[ \d]\d/[A-Za-z]{3}/[ \d]{4}:[ \d]\d:[ \d]\d:[ \d]\d [+-]\d{4}"
        elif token.shape:
            shape = token.shape
        elif token.name in _TOKENS:
            shape = r"[^\s\"]*" if quoted else r"[^\s\"]+"
        else:
            shape = r"[^\"]*"
        parts.append(f"(?P<{token.name}>{shape})")
    return "".join(parts)
