"""A peer: one Python process, one regular expression a line, pyarrow at the end.

`peer_re.py ACCESS_LOG OUT.parquet [BYTES]` reads the first BYTES (all by default).
It gives the same 14 columns as floor.py, row for row.
"""

import re
import sys
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

LINE = re.compile(
    r'(\S+) - (\S+) \[([^\]]{26})\] "([^"]*)" (\d{3}) (\d+) "([^"]*)" "([^"]*)" rt=([\d.]+)'
    r' uct="([^"]*)" uht="([^"]*)" urt="([^"]*)" req_id=(.*) quota_used=([^ "]+)'
)
ROWS = 200_000
TEXT = pa.string()
FLOAT = pa.float64()
COLUMNS: dict[str, pa.DataType] = {
    "addr": TEXT,
    "user": TEXT,
    "ts": pa.timestamp("us", "UTC"),
    "request": TEXT,
    "status": pa.int16(),
    "bytes": pa.int64(),
    "referer": TEXT,
    "agent": TEXT,
    "rt": FLOAT,
    "uct": FLOAT,
    "uht": FLOAT,
    "urt": FLOAT,
    "request_id": TEXT,
    "quota_used": FLOAT,
}
SCHEMA = pa.schema(COLUMNS)


def number(text: str) -> float | None:
    """Give the last item of a list; `-` is null."""
    last = text.rpartition(", ")[2]
    return None if last == "-" else float(last)


def dash(text: str) -> str | None:
    """Give null for nginx's `-`."""
    return None if text == "-" else text


def main() -> None:
    """Read, match, type and write."""
    source, target = sys.argv[1:3]
    left = int(sys.argv[3]) if len(sys.argv) > 3 else sys.maxsize
    rows: list[tuple[object, ...]] = []

    def flush(writer: pq.ParquetWriter) -> None:
        columns = list(zip(*rows, strict=True)) or [()] * len(SCHEMA)
        arrays = [pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)]
        writer.write_table(pa.Table.from_arrays(arrays, schema=SCHEMA))
        rows.clear()

    with (
        Path(source).open("rb") as file,
        pq.ParquetWriter(
            target, SCHEMA, compression="zstd", compression_level=1
        ) as out,
    ):
        for raw in file:
            left -= len(raw)
            if left < 0:
                break
            match = LINE.fullmatch(raw.decode().rstrip("\n"))
            if match is None:
                continue
            a, u, t, q, s, b, r, g, rt, uct, uht, urt, i, quota = match.groups()
            rows.append(
                (
                    a, dash(u), datetime.strptime(t, "%d/%b/%Y:%H:%M:%S %z"), q, int(s), int(b), dash(r), dash(g),
                    float(rt), number(uct), number(uht), number(urt), dash(i), number(quota),
                )
            )  # fmt: skip
            if len(rows) == ROWS:
                flush(out)
        flush(out)


if __name__ == "__main__":
    main()
