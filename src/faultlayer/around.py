"""Finds what is around the lines of a file, from its first lines, level by level."""

from collections.abc import Iterator, Sequence
from typing import Final

import polars as pl

from faultlayer import documents, logical_lines, unwrap
from faultlayer.documents import Document
from faultlayer.formats import Format
from faultlayer.level import Peel
from faultlayer.literals import Sight
from faultlayer.peel import ANSI, peel
from faultlayer.take import Order, take
from faultlayer.wrappers import Wrapper

#: Wrappers within one another; more is an accident.
DEPTH: Final = 6
_MOST: Final = 0.5  # share of lines that a wrapper has to be around
_EVERY: Final = 0.85  # of one that is around every line, but for somebody's words
# Of lines that are read in another way: how many more are known, or fewer are not.
_MORE: Final = 1.5
_SAME: Final = 0.95
_LESS: Final = 0.7
_FIRST: Final = 20  # lines by which a wrapper is passed over
_SAMPLE: Final = 400
_STREAMS: Final = 24  # streams that are looked at; all others are like these
# What a line counts of which only the program is known, or that any program may write.
_NAMED: Final = 0.7
_GENERAL: Final = 0.6


def _last(path: str) -> str:
    key = path.partition("[")[0].rpartition(".")[2]
    return f'"{key}"'


class Around:
    """Chooses among the wrappers by what the formats make of the lines inside."""

    def __init__(self, wrappers: Sequence[Wrapper], formats: Sequence[Format]) -> None:
        # What people put around lines is asked last: programs may write the same.
        self._wrappers = sorted(wrappers, key=lambda one: (not one.sure, one.every))
        known = [
            (one, [pattern for pattern in one.patterns if pattern.telling])
            for one in formats
            if not one.weak
        ]
        self._own: Order = [one for one in known if not one[0].general]
        self._general: Order = [one for one in known if one[0].general]

    def find(self, lines: pl.DataFrame) -> Peel | None:
        """Give what is around these lines (columns of `lines_of`)."""
        return self._find(logical_lines.untold(lines), 1, weigh=False)[0]

    def document(self, head: bytes) -> tuple[Document, pl.DataFrame] | None:
        """Tell whether a file is a document, by its first bytes, and give its records."""
        lists = [
            tuple(path.split("."))
            for wrapper in self._wrappers
            for path in wrapper.lists
        ]
        for document in documents.of(head, lists):
            records = documents.rows(head, document, whole=False)
            if document.kind in documents.DOUBTFUL and not self._helps(
                head, document, records
            ):
                continue
            if not document.lists and document.kind != documents.CSV:
                return document, records
            # Programs too have lists called "events" and tables: only a shipper's are
            # taken apart.
            found = self.find(records)
            if found is not None and (
                found.wrapper.lists or document.kind == documents.CSV
            ):
                return document, records
        return None

    def _helps(self, head: bytes, document: Document, records: pl.DataFrame) -> bool:
        """Tell whether more lines are known when they are read so than as they are."""
        lines = pl.Series(head.decode("utf-8", "replace").split("\n"), dtype=pl.String)
        both = [lines, records.get_column("text")]
        both = [text.filter(text.str.strip_chars() != "") for text in both]
        empty = logical_lines.untold(records.clear())
        before, after = (self._known(text, empty) for text in both)
        if not after:
            return False
        if document.kind != documents.WRAPPED:
            return after > _MORE * before
        # The beginnings of lines are known by themselves; what is joined is their rest.
        left, still = (
            len(text) - known for text, known in zip(both, (before, after), strict=True)
        )
        return after >= _SAME * before and still < _LESS * left

    def _find(
        self, rows: pl.DataFrame, depth: int, *, weigh: bool, bare: bool = True
    ) -> tuple[Peel | None, float]:
        """Give what is around rows and, if wanted, how many of them are then known.

        `bare`: nothing but what somebody put around every line was found around them.
        """
        text = rows.get_column("text")
        text = text.filter(text.str.strip_chars() != "")
        best: Peel | None = None
        most = -1.0
        for wrapper in self._candidates(text, bare=bare) if depth <= DEPTH else ():
            if most < 0 and not wrapper.sure:
                most = self._known(text, rows.clear())
            weighed = weigh or not wrapper.sure
            inner = bare and wrapper.every
            around, known = self._with(wrapper, rows, depth, weigh=weighed, bare=inner)
            if wrapper.sure:
                return around, known
            if known > (_MORE if wrapper.every else 1) * most:
                best, most = around, known
        if most < 0 and weigh:
            most = self._known(text, rows)
        return best, most

    def _candidates(self, text: pl.Series, *, bare: bool) -> Iterator[Wrapper]:
        first = text.head(_FIRST).str.replace_all(ANSI, "").to_list()
        some = text.head(_SAMPLE)
        for wrapper in self._wrappers:
            if wrapper.every and not bare:
                continue
            if wrapper.plan is None:
                keys = [_last(path) for path in wrapper.json["text"]]
                if not any(key in line for line in first for key in keys):
                    continue
            elif not any(map(wrapper.plan.may_take, first)):
                continue
            most = _EVERY if wrapper.every else _MOST
            if len(peel(some, wrapper)) > most * len(some):
                yield wrapper

    def _with(
        self,
        wrapper: Wrapper,
        rows: pl.DataFrame,
        depth: int,
        *,
        weigh: bool,
        bare: bool,
    ) -> tuple[Peel, float]:
        """Give a wrapper with what is inside it, and how many lines are known then."""
        inner = unwrap.inside(rows, wrapper)
        inside: dict[str, Peel | None] = {}
        known = 0.0
        order = (-pl.col("len").cast(pl.Int64), "stream")
        largest = inner.group_by("stream").len().sort(*order).head(_STREAMS)
        for stream in largest.get_column("stream"):
            part = inner.filter(pl.col("stream") == stream)
            inside[stream], count = self._find(part, depth + 1, weigh=weigh, bare=bare)
            known += count
        known *= len(inner) / max(1, int(largest.get_column("len").sum()))
        if not any(inside.values()):
            return Peel(wrapper), known
        return Peel(wrapper, inside), known

    def _known(self, text: pl.Series, rows: pl.DataFrame) -> float:
        """Count the lines that formats know, and less those of which only a program is."""
        some = text.head(_SAMPLE)
        if not len(some):
            return 0.0
        sight = Sight(some.to_list())
        _, left = take(some, _likely(self._own, sight))
        known = float(len(some) - len(left))
        if rows.get_column("program").null_count() < len(rows):
            known += _NAMED * len(left)
        else:
            _, unknown = take(some, _likely(self._general, sight), left)
            known += _GENERAL * (len(left) - len(unknown))
        return known * len(text) / len(some)


def _likely(order: Order, sight: Sight) -> Order:
    return [
        (one, [pattern for pattern in patterns if sight.may_hold(pattern.hint)])
        for one, patterns in order
    ]
