"""Takes a source that is no log as one record, so that each of its bytes is accounted for."""

import polars as pl

from faultlayer.assemble import Pool

_CHARS = 400
_NONE = pl.DataFrame()


class Whole:
    """Stands in for `Assembly`: gives one reject at the end, and no event."""

    def __init__(self, reason: str) -> None:
        self._reason = reason
        self._lines = 0
        self._bytes = 0
        self._text: list[str] = []
        self.used: dict[str, int] = {}
        self.repeated = 0

    def pool(self, lines: pl.DataFrame, *, last: bool) -> Pool:
        """Take note of lines; with `last` give the reject, if there was any."""
        if not self._lines:
            self._text = lines.get_column("text").head(_CHARS).to_list()
        self._lines += len(lines)
        self._bytes += int(lines.get_column("byte_length").sum())
        if not last or not self._lines:
            return Pool(_NONE, _NONE, 0, 0)
        row = {
            "line": 1,
            "lines": self._lines,
            "byte_offset": 0,
            "byte_length": self._bytes,
            "reason": self._reason,
            "text": "\n".join(self._text)[:_CHARS],
        }
        found = pl.DataFrame([row]).with_columns(pl.col("lines").cast(pl.Int32))
        return Pool(_NONE, found, 0, 0)
