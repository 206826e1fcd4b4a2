"""Two sides for `diff` to compare, as rows of the tables of a case."""

from datetime import datetime, timedelta
from typing import Any

from tests.unit.conftest import Rows

NOON = datetime(2026, 11, 30, 12)  # noqa: DTZ001 - cases hold UTC without a zone


def attempts(*outcomes: tuple[str | None, dict[str, Any]]) -> dict[str, Rows]:
    """Make attempts, one a second from noon on, each with its cause, None when fine."""
    rows: dict[str, Rows] = {"attempts": [], "verdicts": []}
    for number, (cause, known) in enumerate(outcomes, 1):
        row = {
            "attempt_id": number,
            "request_id": f"r-{number}",
            "attempt": 1,
            "ts_start": NOON + timedelta(seconds=number),
            "ts_end": NOON + timedelta(seconds=number),
            "failed": cause is not None,
            **known,
        }
        rows["attempts"].append(row)
        if cause is not None:
            layer = cause.partition(".")[0]
            rows["verdicts"].append(
                {"attempt_id": number, "layer": layer, "cause": cause}
            )
    return rows


def worse() -> tuple[dict[str, Rows], dict[str, Rows]]:
    """Give a quiet side and one in which m-a fails 20 of 40 attempts of 20 users."""
    base = attempts(
        *[
            (None, {"model": served, "user_id": f"u-{n}"})
            for n in range(40)
            for served in ("m-a", "m-b")
        ]
    )
    case = attempts(
        *[
            (
                "model.cuda_oom" if served == "m-a" and n < 20 else None,
                {"model": served, "user_id": f"u-{n}"},
            )
            for n in range(40)
            for served in ("m-a", "m-b")
        ]
    )
    return base, case
