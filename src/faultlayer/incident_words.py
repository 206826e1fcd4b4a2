"""Sets incidents as chains: what broke, what it looked like, when it was noticed and over."""

from collections.abc import Iterator
from datetime import date

from faultlayer import wording
from faultlayer.render import Cell, Line, cut, line, wrapped
from faultlayer.summary import Values

_INCIDENTS = 5
_SCOPE = 40
_ALL = 0.9995
#: A share of less than so many attempts says nothing.
_SOME = 3


def chains(
    values: Values, width: int, day: date | None, *, full: bool = False
) -> Iterator[Line]:
    """Give the largest incidents, each as a numbered chain; with `full` all of them."""
    incidents = values["incidents"]
    given = incidents if full else incidents[:_INCIDENTS]
    numbers = {row["incident_id"]: number for number, row in enumerate(incidents, 1)}
    for number, row in enumerate(given, 1):
        text = " -> ".join(chain(row, values["cascades"], numbers, day))
        for item in wrapped(text, width, "    ", f"{number:<4}"):
            yield line(item)
    if len(incidents) > len(given):
        left = len(incidents) - len(given)
        yield line(Cell(f"    and {left} more: faultlayer report"))


def chain(
    row: Values, cascades: list[Values], numbers: dict[int, int], day: date | None
) -> Iterator[str]:
    """Give the links of an incident's chain; `numbers` are those shown to the reader."""
    # Without a condition the scope of a quota is whoever was hit.
    word = "on" if row["has_condition"] or row["layer"] != "quota" else "for"
    scope = f" {word} {cut(row['scope'], _SCOPE)}" if row["scope"] else ""
    place = f" ({row['place']})" if row["place"] else ""
    yield f"{wording.moment(row['ts_trouble'], day, 1)}  {row['cause']}{scope}{place}"
    if row["because"]:
        yield row["because"]
    if row["root_incident_id"] in numbers:
        yield f"follows from {numbers[row['root_incident_id']]}: {row['follows']}"
    yield _hit(row)
    mine = [one for one in cascades if one["incident_id"] == row["incident_id"]]
    looks = [
        f"{wording.count(one['attempts'])} as {one['cause']}"
        for one in mine
        if one["kind"] == "symptom"
    ]
    if looks:
        yield f"seen {wording.listed(looks, 2)}"
    if row["retries"]:
        yield f"{wording.count(row['retries'])} of them retries"
    if row["detect_s"] is not None and row["noticed_by"] != row["named_by"]:
        where = f" ({row['noticed_place']})" if row["noticed_place"] else ""
        yield f"noticed {after(row['detect_s'])}{where}"
    if row["target_s"] is not None or row["has_condition"]:
        yield over(row, day)


def _hit(row: Values) -> str:
    hit = f"{wording.count(row['attempts'])} failed"
    if row["share"] is not None and row["attempts"] >= _SOME:
        hit += f" ({part(row['share'])} of the traffic)"
    if row["users"]:
        hit += f", {wording.count(row['users'], 'user')}"
    if row["models"]:
        hit += f", {wording.listed(row['models'], 2)}"
    return hit


def over(row: Values, day: date | None) -> str:
    """Say when an incident was over, how long that took, and against which target."""
    if row["ts_recovered"] is None:
        missed = row["target_met"] is False
        target = f" (target {seconds(row['target_s'])}: missed)" if missed else ""
        return f"no end in the logs{target}"
    text = f"over at {wording.moment(row['ts_recovered'], day, 1)}"
    text += f" after {seconds(row['recover_s'])}"
    if row["target_s"] is not None:
        word = "kept" if row["target_met"] else "missed"
        text += f" (target {seconds(row['target_s'])}: {word})"
    return text


def part(share: float) -> str:
    """Give a share of traffic, 1 = all of it."""
    return "all" if share > _ALL else wording.percent(round(share * 1000), 1000)


def after(number: float) -> str:
    """Say how long after the onset something was, in seconds."""
    return f"after {seconds(number)}" if number > 0 else "at once"


def seconds(number: float) -> str:
    """Give seconds as a length of time, whole where it is long."""
    us = round(number * 1_000_000)
    if us >= 10_000_000:  # noqa: PLR2004
        us = round(number) * 1_000_000
    return wording.duration(us)
