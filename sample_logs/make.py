"""Make the sample incidents again: `python sample_logs/make.py [-o DIR] [--check]`.

Everything is invented and seeded, so the same program gives the same bytes
(compressed files: the same content, since zlib and zlib-ng pack differently).
"""

import argparse
import gzip
import sys
from collections.abc import Callable
from pathlib import Path

from busy import model_busy
from death import engine_death

HERE = Path(__file__).resolve().parent

INCIDENTS: dict[str, Callable[[], dict[str, str]]] = {
    "engine_death": engine_death,
    "model_busy": model_busy,
}


def main() -> int:
    """Write the incidents, or check that those on disk are what would be written."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=HERE,
        help="folder to write to (default: this one)",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="compare instead of writing; exit 1 when they differ",
    )
    options = parser.parse_args()
    different = 0
    for name, incident in INCIDENTS.items():
        for path, text in incident().items():
            target, data = options.output / name / path, text.encode()
            if options.check:
                there = target.read_bytes() if target.is_file() else b""
                if (
                    gzip.decompress(there) if there and path.endswith(".gz") else there
                ) != data:
                    print(f"differs: {name}/{path}", file=sys.stderr)
                    different += 1
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(
                gzip.compress(data, 9, mtime=0) if path.endswith(".gz") else data
            )
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
