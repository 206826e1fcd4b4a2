"""Reads files whose records are not lines: JSON documents and exports of the journal."""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import polars as pl

from faultlayer import journal, pasted

JSON: Final = "json"
EXPORT: Final = "export"
VERBOSE: Final = "verbose"
TAIL: Final = "tail"
HTML: Final = "html"
WRAPPED: Final = "wrapped"
TYPESET: Final = "typeset"
RETURNS: Final = "returns"
#: What came from a screen or an editor, line by line.
PASTED: Final = (TAIL, HTML, WRAPPED, TYPESET, RETURNS)
#: Of these, what is so only where it makes lines known.
DOUBTFUL: Final = (WRAPPED, TYPESET, RETURNS)
CSV: Final = "csv"
LINES: Final = (
    "lines"  # these are read by `lines_of`, and stand here to be turned round
)
#: Documents are read at once; what is larger is read line by line.
LARGEST: Final = 256 << 20
SCHEMA: Final = {
    "line": pl.Int64,  # number of the record in the document, from 1
    "lines": pl.Int32,  # physical lines that end in it
    "byte_offset": pl.Int64,
    "byte_length": pl.Int64,  # up to the next record
    "text": pl.String,  # on one line; in a list `{"of": what is around, "item": it}`
    "damaged": pl.Boolean,
    "at": pl.Int64,  # the physical line that it begins in
}

#: Where the records stand: keys from the outside in, the last of which has a list.
Steps = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """What kind of document a file is, and the lists that its records stand in.

    `backward`: the newest record is the first, as queries give them. `width`: at how
    many characters a terminal wrapped the lines.
    """

    kind: str
    lists: tuple[Steps, ...] = ()
    backward: bool = False
    width: int = 0
    texts: bool = False


_START: Final = re.compile(rb'(?:\xef\xbb\xbf)?\s*(?:\{\s*["}]|\[\s*[{\[])')
_SPACE: Final = re.compile(r"[\s,\x1e]*")
_BOM: Final = "\xef\xbb\xbf"
_CSV_MARK: Final = "_csv"  # a key that tells a row from an object that was one before
_ROW: Final = re.compile(rb'(?:[^"\n]|"(?:[^"]|"")*")*\n?')
_LINE_NAMES: Final = frozenset(
    [
        "message",
        "@message",
        "line",
        "log",
        "textpayload",
        "_raw",
        "content",
        "_msg",
        "logmessage",
        "logentry",
    ]
)
_TIME_NAMES: Final = frozenset(
    [
        "@timestamp",
        "timestamp",
        "time",
        "date",
        "tsns",
        "_time",
        "__time__",
        "timegenerated",
    ]
)
#: Keys of what a program printed, as answers of an API have it in one text.
_TEXT_NAMES: Final = frozenset(["log", "output", "stdout", "stderr"])
_TEXT_LINE: Final = re.compile(r"\\n|((?:[^\\]|\\[^n])+)")
_LONGEST: Final = 2000  # of what is around a list, repeated for each record
_DECODER: Final = json.JSONDecoder(strict=False)


_TESTS: Final = (
    (EXPORT, journal.is_export),
    (VERBOSE, journal.is_verbose),
    (TAIL, pasted.is_tail),
    (HTML, pasted.is_html),
    (TYPESET, pasted.is_typeset),
    (RETURNS, pasted.has_returns),
)
_READERS: Final = {
    TAIL: pasted.of_tail,
    HTML: pasted.of_html,
    TYPESET: pasted.of_typeset,
    RETURNS: pasted.of_returns,
}


def of(head: bytes, lists: Sequence[Steps]) -> Iterator[Document]:
    """Give what kinds of document may begin with these bytes; none for mere lines."""
    for kind, is_one in _TESTS:
        if is_one(head):
            yield Document(kind)
    if width := pasted.width(head):
        yield Document(WRAPPED, width=width)
    if _is_table_of_lines(head):
        yield Document(CSV)
    if not _START.match(head):
        return
    first = head.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")[0]
    # An array on one line is a list of records as well.
    lines = _is_json(first) and not first.startswith(b"[")
    # Of several objects a text of several lines is that of one record.
    texts = not (
        lines and head.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")[2].strip()
    )
    known = Document(JSON, tuple(lists), texts=texts)
    found = _Walk((first if lines else head).decode("latin-1"), known).pieces()
    if any(piece.around for piece in found):
        yield known
    if any(piece.good for piece in found) and not lines:
        yield Document(JSON)


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def rows(data: bytes, document: Document, *, whole: bool = True) -> pl.DataFrame:
    """Give the records of a document, with the columns of `SCHEMA`.

    Their bytes add up to the document. Without `whole` it is the beginning of one, and
    the last record may be left out.
    """
    if document.kind in PASTED:
        return _pasted(data, document, whole=whole)
    if document.kind in (EXPORT, VERBOSE):
        read = journal.exported if document.kind == EXPORT else journal.verbose
        pieces = [
            _Piece(start, end, good=fields is not None, fields=fields)
            for start, end, fields in read(data)
        ]
    elif document.kind == CSV:
        pieces = list(_csv_rows(data))
    else:
        pieces = _Walk(data.decode("latin-1"), document).pieces()
    if not whole:
        pieces = [piece for piece in pieces if piece.good]
    if not pieces:
        return pl.DataFrame(schema=SCHEMA)
    edges = np.array([0, *(piece.start for piece in pieces[1:]), len(data)], np.int64)
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))
    passed = np.searchsorted(ends, edges)
    lines = np.diff(passed)
    if data and not data.endswith(b"\n"):
        lines[-1] += 1
    starts = np.array([piece.start for piece in pieces], np.int64)
    texts, damaged = zip(*(_text(data, piece) for piece in pieces), strict=True)
    return pl.DataFrame(
        {
            "line": np.arange(1, len(pieces) + 1),
            "lines": lines,
            "byte_offset": edges[:-1],
            "byte_length": np.diff(edges),
            "text": texts,
            "damaged": damaged,
            "at": np.searchsorted(ends, starts) + 1,
        },
        schema=SCHEMA,
    )


def _pasted(data: bytes, document: Document, *, whole: bool) -> pl.DataFrame:
    if not whole:  # the last line may be torn
        last = max(data.rfind(b"\n"), data.rfind(b"\r"))
        data = data[: last + 1]
    if document.kind == WRAPPED:
        found = pasted.unwrapped(data, document.width)
    else:
        found = _READERS[document.kind](data)
    return found.cast(pl.Schema(SCHEMA))


@dataclass(slots=True)
class _Around:
    """The object that has a list, without it: its other members as they are."""

    members: list[str] = field(default_factory=list)

    def text(self) -> str:
        return "{" + ",".join(self.members) + "}"


@dataclass(slots=True)
class _Piece:
    """A record's place; `good`: it could be read; `fields`: those of a journal entry.

    `line`: it is one line of a JSON text.
    """

    start: int
    end: int
    good: bool
    around: _Around | None = None
    fields: Mapping[str, object] | None = None
    line: bool = False


def _text(data: bytes, piece: _Piece) -> tuple[str, bool]:
    """Give a record on one line, and whether it had bytes that are not UTF-8."""
    if piece.fields is not None:
        return json.dumps(piece.fields, ensure_ascii=False), False
    raw = data[piece.start : piece.end]
    raw = b'"%s"' % raw if piece.line else raw.strip()
    text = raw.decode("utf-8", "replace")
    # Within JSON a line end is only between values.
    text = text.replace("\r\n", " ").replace("\n", " ")
    if piece.around is not None and piece.good:
        around = piece.around.text().encode("latin-1").decode("utf-8", "replace")
        around = around.replace("\r\n", " ").replace("\n", " ")
        text = f'{{"of":{around},"item":{text}}}'
    return text, "\ufffd" in text and b"\xef\xbf\xbd" not in raw


# ---------------------------------------------------------------- JSON


class _Walk:
    """Walks through JSON values, one after another, and into the lists that are known.

    The text is bytes read as Latin-1, so that its places are those of the bytes.
    """

    def __init__(self, text: str, document: Document) -> None:
        self._text = text
        self._lists = document.lists
        self._texts = document.texts
        self._found: list[_Piece] = []

    def pieces(self) -> list[_Piece]:
        """Give the records, in their order; what cannot be read is one up to a line end."""
        text = self._text
        at = self._space(len(_BOM) if text.startswith(_BOM) else 0)
        inside = False  # a list that is all of the document
        while at < len(text):
            if text[at] == "[" and not inside:
                inside, at = True, at + 1
            elif text[at] == "]" and inside:
                inside, at = False, at + 1
            else:
                at = self._guarded(at, ())
            at = self._space(at)
        return self._found

    def _guarded(self, at: int, steps: Steps, around: _Around | None = None) -> int:
        """Read a record, or give it up at the end of the line where it fails."""
        known = len(self._found)
        try:
            end = self._value(at, steps)
        except (ValueError, IndexError, RecursionError):
            if len(self._found) > known:
                at = self._space(self._found[-1].end)
            end = self._text.find("\n", at) + 1 or len(self._text)
            if at < end:
                self._found.append(_Piece(at, end, good=False))
            return end
        if len(self._found) == known:
            self._found.append(_Piece(at, end, good=True, around=around))
        return end

    def _value(self, at: int, steps: Steps) -> int:
        """Give the end of a value; what stands in a known list in it is found."""
        text = self._text
        if text[at] == "{" and any(one[: len(steps)] == steps for one in self._lists):
            return self._object(at, steps)
        # A text is a record only as an item of a list.
        if text[at] not in "{[" and not (text[at] == '"' and steps[-1:] == ("",)):
            raise json.JSONDecodeError("no record", text, at)
        return _DECODER.raw_decode(text, at)[1]

    def _object(self, at: int, steps: Steps) -> int:
        text = self._text
        around = _Around()
        at = self._space(at + 1)
        while text[at] != "}":
            key, end = _DECODER.raw_decode(text, at)
            value = self._space(end)
            if not isinstance(key, str) or text[value] != ":":
                raise json.JSONDecodeError("no member", text, at)
            value = self._space(value + 1)
            below = (*steps, key)
            on_the_way = any(one[: len(below)] == below for one in self._lists)
            if on_the_way and text[value] == "[":
                end = self._list(value, below, around)
            elif on_the_way and text[value] == "{":
                end = self._object(value, below)
            else:
                end = _DECODER.raw_decode(text, value)[1]
                named = below in self._lists or key in _TEXT_NAMES
                split = self._texts and named and text[value] == '"'
                if split and self._lines(value + 1, end - 1, around):
                    at = self._space(end)
                    continue
                if end - at < _LONGEST:
                    around.members.append(text[at:end])
            at = self._space(end)
        return at + 1

    def _list(self, at: int, steps: Steps, around: _Around) -> int:
        """Read a list: of records where the steps end, else of what has their lists."""
        text = self._text
        last = steps in self._lists
        at = self._space(at + 1)
        while text[at] != "]":
            if last:
                at = self._guarded(at, (*steps, ""), around)
            elif text[at] == "{":
                at = self._object(at, steps)
            else:
                at = _DECODER.raw_decode(text, at)[1]
            at = self._space(at)
        return at + 1

    def _lines(self, at: int, end: int, around: _Around) -> bool:
        """Give the lines of a text as records, if there are several."""
        found = [
            _Piece(*match.span(1), good=True, around=around, line=True)
            for match in _TEXT_LINE.finditer(self._text, at, end)
            if match.group(1)
        ]
        if len(found) > 1:
            self._found += found
        return len(found) > 1

    def _space(self, at: int) -> int:
        match = _SPACE.match(self._text, at)
        return match.end() if match else at


# ---------------------------------------------------------------- CSV


def _is_table_of_lines(head: bytes) -> bool:
    """Tell whether a header names a stamp and a line, as exports of log views do."""
    first = head.removeprefix(_BOM.encode("latin-1")).partition(b"\n")[0]
    cells = _cells(first, _delimiter(first))
    names = {name.lower().partition(" [")[0] for name in cells}
    return bool(names & _LINE_NAMES) and bool(names & _TIME_NAMES)


def _delimiter(header: bytes) -> str:
    """Give what stands between the names of a header, most often."""
    return max(",;\t", key=lambda mark: header.count(mark.encode()))


def _cells(line: bytes, delimiter: str) -> list[str]:
    text = line.decode("utf-8", "replace")
    return next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])


def _csv_rows(data: bytes) -> Iterator[_Piece]:
    """Give the rows below the header, each with its cells by name."""
    names: list[str] = []
    delimiter = _delimiter(data.partition(b"\n")[0])
    for row in _ROW.finditer(data):
        if row.end() == row.start():
            break
        cells = _cells(row.group().removeprefix(_BOM.encode("latin-1")), delimiter)
        if not names:
            names = [name.partition(" [")[0] for name in cells]
            start = 0
        elif len(cells) == len(names):
            fields = {_CSV_MARK: "", **dict(zip(names, cells, strict=True))}
            yield _Piece(start or row.start(), row.end(), good=True, fields=fields)
        else:
            yield _Piece(row.start(), row.end(), good=False)
