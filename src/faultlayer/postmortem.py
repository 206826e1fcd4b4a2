"""Sections of the Markdown report that say what the page says, from the same queries."""

from collections.abc import Iterator, Mapping

from faultlayer import wording
from faultlayer.marked import table, text
from faultlayer.report_page.asked import Answer

Answers = Mapping[str, Answer]

_PEOPLE = (
    "Trigger",
    "Resolution",
    "What went well",
    "What went wrong",
    "Where we were lucky",
)
_LONGEST = 160


def impact(answers: Answers) -> Iterator[str]:
    """Say what failed, of how many."""
    totals, tried = answers["totals"].rows[0], answers["retries"].rows[0]
    rows = [
        ("attempts", totals["failed"], totals["attempts"]),
        ("requests with an id", totals["failed_requests"], totals["requests"]),
        ("users", totals["failed_users"], totals["users"]),
        ("models", totals["failed_models"], totals["models"]),
        ("requests by their first attempt", tried["first_failed"], tried["requests"]),
        ("requests by their last attempt", tried["still_failed"], tried["requests"]),
    ]
    yield from ("", "## Impact", "")
    yield from table(
        ("what", "failed", "of"),
        [(what, wording.count(part), wording.count(all_)) for what, part, all_ in rows],
    )
    for what in ("users", "models"):
        if totals["attempts"] and not totals[what]:
            yield from ("", f"No log names {what}: their 0 means not known.")
    yield from _named(answers, "totals", "retries")


def evidence(answers: Answers) -> Iterator[str]:
    """List the records that most verdicts of each cause cite."""
    rows = answers["evidence"].rows
    if not rows:
        return
    yield from ("", "## Evidence", "")
    yield from table(
        ("cause", "at", "when (UTC)", "logged", "cited by", "excerpt"),
        [
            (
                row["cause"],
                f"{row['path']}:{row['line']}",
                f"{wording.moment(row['ts'])} {wording.error(row['ts_error_us'])}",
                wording.moment(row["ts_raw"]),
                wording.count(row["verdicts"]),
                _short(" ".join(line.strip() for line in row["excerpt"])),
            )
            for row in rows
        ],
    )
    yield from _named(answers, "evidence")
    others = answers["contributing"].rows
    if others:
        yield from ("", "Causes that held as well, beside the one that decided:", "")
        yield from table(
            ("cause", "held as well", "attempts"),
            [
                (row["cause"], row["contributing"], wording.count(row["attempts"]))
                for row in others
            ],
        )
        yield from _named(answers, "contributing")


def ruled_out(answers: Answers) -> Iterator[str]:
    """List the layers that were cleared, and by what."""
    rows = answers["cleared"].rows
    if not rows:
        return
    yield from ("", "## Ruled out", "")
    yield from table(
        ("cause", "ruled out", "by", "attempts"),
        [
            (
                row["cause"],
                row["layer"],
                row["reason"]
                + (f" and {row['reasons'] - 1} more" if row["reasons"] > 1 else ""),
                wording.count(row["attempts"]),
            )
            for row in rows
        ],
    )
    yield from _named(answers, "cleared")


def unknown(answers: Answers) -> Iterator[str]:
    """Say what the logs do not explain."""
    sure = answers["strengths"].rows[0]
    if not sure["verdicts"]:
        return
    yield from ("", "## Not known", "")
    yield (
        "- Failed attempts that the logs do not explain:"
        f" {wording.count(sure['undetermined'])}"
    )
    yield (
        "- Verdicts that would change within the uncertainty of the clocks:"
        f" {wording.count(sure['clock_sensitive'])}"
    )
    yield from (
        f"- Missing: {text(row['missing'])}"
        f" ({wording.count(row['attempts'], 'attempt')})"
        for row in answers["missing"].rows
    )
    yield from _named(answers, "strengths", "missing")


def retries(answers: Answers) -> Iterator[str]:
    """Say what retries saved, and what was charged for nothing."""
    tried, waste = answers["retries"].rows[0], answers["waste"].rows[0]
    if not tried["first_failed"]:
        return
    yield from ("", "## Retries and quota", "")
    yield from (
        f"- {words}: {wording.count(number)}"
        for words, number in (
            ("retries", tried["retries"]),
            ("requests whose first attempt failed", tried["first_failed"]),
            ("of these successful in the end", tried["rescued"]),
            ("requests whose last attempt failed", tried["still_failed"]),
            ("charges for requests that never succeeded", waste["charges"]),
            ("tokens that these charged for", waste["tokens"]),
            ("amount of these, in the ledger's unit", waste["amount"]),
        )
    )
    yield from _named(answers, "retries", "waste")


def outlook(answers: Answers) -> Iterator[str]:
    """Say when pools will be full, and what can run at once against the limit."""
    ahead = [
        row
        for row in answers["quota_forecast"].rows
        if row["crossing_earliest_ts"] is not None
    ]
    bounds = [row for row in answers["real_concurrency"].rows if row["least"]]
    if not ahead and not bounds:
        return
    yield from ("", "## Outlook", "")
    if ahead:
        yield from table(
            ("pool", "used", "80 % reached (UTC)", "at the earliest (UTC)"),
            [
                (
                    f"{row['level']} {row['pool']}",
                    f"{row['used_ratio']:.1%}",
                    wording.moment(row["crossing_ts"], None, 0)
                    if row["crossing_ts"]
                    else "not within reach",
                    wording.moment(row["crossing_earliest_ts"], None, 0),
                )
                for row in ahead
            ],
        )
    if ahead and bounds:
        yield ""
    for row in bounds:
        configured = (
            wording.count(row["configured"]) if row["configured"] else "not known"
        )
        yield (
            f"- requests that can run at once: {wording.count(row['at_once'])} by"
            f" {row['bound']} ({text(row['how'])}); configured limit: {configured}"
        )
    yield from _named(answers, "quota_forecast", "real_concurrency")


def people() -> Iterator[str]:
    """Leave room for what no log tells."""
    for one in _PEOPLE:
        yield from ("", f"## {one}", "", "(to be written by people)")
    yield from ("", "## Actions", "")
    yield from table(("action", "owner", "due"), [("", "", "")])


def _named(answers: Answers, *names: str) -> Iterator[str]:
    """Name the files that give the numbers above."""
    paths = ", ".join(f"`{answers[name].query.path}`" for name in names)
    yield from ("", f"SQL: {paths}")


def _short(words: str) -> str:
    return words if len(words) <= _LONGEST else words[: _LONGEST - 1] + "…"
