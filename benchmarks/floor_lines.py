"""The floor of a mixed folder: polars reads all lines of all files and writes them.

`floor_lines.py FOLDER OUT.parquet` keeps the text alone, zstd level 1: nothing is taken
apart. What `faultlayer analyze` does beyond this is what the ratio in run.py measures.
"""

import sys
from pathlib import Path

import polars as pl

if __name__ == "__main__":
    files = sorted(path for path in Path(sys.argv[1]).rglob("*") if path.is_file())
    pl.concat([pl.scan_lines(path, name="line") for path in files]).sink_parquet(
        sys.argv[2], compression="zstd", compression_level=1
    )
