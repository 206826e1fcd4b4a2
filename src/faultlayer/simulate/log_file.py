"""A file that grows in the order of true time, though its lines are made in chunks."""

from pathlib import Path
from types import TracebackType
from typing import Self

import polars as pl

_EMPTY = pl.DataFrame(schema={"t": pl.Int64, "text": pl.String, "mark": pl.String})


class LogFile:
    """Lines by time; what lies after the chunk waits for the next one.

    `marks` collects the first line number of each record that has a mark, up to a
    number for each. `first_seq` numbers JSON entries from there.
    """

    def __init__(self, folder: Path, path: str, *, first_seq: int = 0) -> None:
        self.path = path
        self.marks: dict[str, list[int]] = {}
        self.lines = 0
        self.bytes = 0
        self._seq = first_seq
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        self._file = target.open("wb")
        self._waiting = [_EMPTY]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def add(
        self, rows: pl.DataFrame, t: pl.Expr, text: pl.Expr, mark: str | None = None
    ) -> None:
        """Add a record for each row; records of one time stay in the order added."""
        marked = pl.lit(mark, pl.String).alias("mark")
        self._waiting.append(
            rows.select(t.cast(pl.Int64).alias("t"), text.alias("text"), marked)
        )

    def say(self, t: int, text: str, mark: str | None = None) -> None:
        """Add one record."""
        row = {"t": [t], "text": [text], "mark": [mark]}
        self._waiting.append(pl.DataFrame(row, schema=_EMPTY.schema))

    def flush(self, until: int | None = None) -> None:
        """Write what is before `until`, or all of it."""
        whole = pl.concat(self._waiting).sort("t", maintain_order=True)
        ripe = whole if until is None else whole.filter(pl.col("t") < until)
        self._waiting = [whole[ripe.height :]]
        if not ripe.height:
            return
        if self._seq:
            numbers = pl.int_range(self._seq, self._seq + ripe.height)
            rest = pl.col("text").str.slice(1)
            text = pl.format('{{"seq": {}, {}', numbers, rest)
            ripe = ripe.with_columns(text=text)
            self._seq += ripe.height
        self._note(ripe)
        data = ("\n".join(ripe["text"].to_list()) + "\n").encode()
        self.lines += data.count(b"\n")
        self.bytes += len(data)
        self._file.write(data)

    def _note(self, ripe: pl.DataFrame) -> None:
        if ripe["mark"].null_count() == ripe.height:
            return
        heights = (
            pl.col("text").str.count_matches("\n", literal=True).cast(pl.Int64) + 1
        )
        at = ripe.select("mark", line=heights.cum_sum() - heights + 1 + self.lines)
        for mark, line in at.drop_nulls("mark").iter_rows():
            self.marks.setdefault(mark, []).append(line)

    def places(self, mark: str) -> list[str]:
        """Give `path:line` of each record with this mark, in file order."""
        return [f"{self.path}:{line}" for line in self.marks.get(mark, [])]
