"""Scores formats by the lines that they take, and ranks them for each stream."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import polars as pl

from faultlayer.formats import Format, Pattern
from faultlayer.literals import Sight
from faultlayer.take import take

_FEW: Final = 200  # lines by which formats are chosen that are tried on all lines
_SETTINGS: Final = "config"  # component of the formats of configurations
_WEAK: Final = 0.6  # share of lines that a format without own marks has to take


@dataclass(slots=True)
class Score:
    """How many lines a format takes, `own` of them by patterns of its program alone.

    `together`: how many all formats of settings take, if this is one of several.
    """

    format: Format
    own: int = 0
    together: int = 0
    total: int = 0
    hits: dict[int, int] = field(default_factory=dict)


def family(stream: str) -> str:
    """Give a stream without stdout and stderr: what one program writes."""
    head, _, last = stream.rpartition("|")
    return head if last in ("stdout", "stderr") else stream


def of(
    text: pl.Series, program: str, formats: Sequence[Format], forced: Format | None
) -> list[Score]:
    """Score the formats by lines of a program, "" where no wrapper names it."""
    if forced is not None:
        return _scores([forced], text)
    own = [one for one in formats if patterns_of(one, program)]
    if program and own:
        return _scores(own, text, program)
    # A file of many programs has few lines of each: too few for a weak format.
    scores = _scores([one for one in formats if not (program and one.weak)], text)
    settings = [one for one in scores if one.own and one.format.component == _SETTINGS]
    if len(settings) > 1 and max(one.own for one in settings) > _WEAK * len(text) / 3:
        _, left = take(text, [(one.format, one.format.patterns) for one in settings])
        for one in settings:
            one.together = len(text) - len(left)
    return scores


def _scores(
    formats: Sequence[Format], text: pl.Series, program: str = ""
) -> list[Score]:
    """Score formats by all lines if they take some of a few, else by what those leave.

    What takes none of the few is rare: it is not tried on the lines of others.
    """
    every = len(text) // _FEW
    if every < 2:  # noqa: PLR2004
        sight = Sight(text.to_list())
        return [_score(one, text, sight, program)[0] for one in formats]
    few = text.gather_every(every)
    sight = Sight(few.to_list())
    likely = {one.name for one in formats if _score(one, few, sight, program)[0].total}
    sight = Sight(text.to_list())
    found = {}
    left = pl.repeat(True, len(text), eager=True, dtype=pl.Boolean)
    for one in formats:
        if one.name in likely:
            found[one.name], rest = _score(one, text, sight, program)
            free = pl.repeat(False, len(text), eager=True, dtype=pl.Boolean)
            left &= free.clone().scatter(rest, True)
    rest_text = text.filter(left)
    sight = Sight(rest_text.to_list())
    for one in formats:
        if one.name not in likely:
            found[one.name], _ = _score(one, rest_text, sight, program)
    return [found[one.name] for one in formats]


def ranked(
    scores: Mapping[str, list[Score]], sizes: Mapping[str, int], *, forced: bool
) -> dict[str, list[Score]]:
    """Give the formats of each stream, the likeliest first.

    The streams of a container are of one program: what one of them shows counts for all.
    """
    if forced:
        return dict(scores)
    owns: dict[str, dict[str, int]] = {}
    for stream, each in scores.items():
        own = owns.setdefault(family(stream), {})
        for one in each:
            own[one.format.name] = own.get(one.format.name, 0) + one.own
    ranked = {}
    for stream, each in scores.items():
        own = owns[family(stream)]
        known = [one for one in each if one.total and own[one.format.name]]
        strong = [one for one in known if not one.format.weak]
        named = any(not one.format.companion for one in strong)
        # Weak formats take lines of any program, so they need a file to themselves;
        # settings in two notations, such as a proxy's within YAML, are one file.
        weak = [
            one
            for one in known
            if one.format.weak
            and not named
            and max(one.own, one.together) > _WEAK * sizes[stream]
        ]
        loose = [] if strong else [one for one in each if _begins(one)]
        if loose and weak:
            most = max(one.total for one in weak)
            weak = [] if max(one.total for one in loose) >= most else weak
            loose = [] if weak else loose
        # What many programs print comes after what one program prints.
        ranked[stream] = sorted(
            strong + weak + loose,
            key=lambda one: (
                not one.format.first,
                one.format.general,
                not one.format.given,
                one.format.companion,
                -one.total,
                -own[one.format.name],
                # Who says that others take its lines too gives way to them.
                len(one.format.shares),
                one.format.name,
            ),
        )
    return ranked


def share(ranked: Mapping[str, list[Score]], sizes: Mapping[str, int]) -> float:
    """Give the share of all lines that the best format of each stream takes."""
    known = sum(max((one.total for one in each), default=0) for each in ranked.values())
    return known / max(1, sum(sizes.values()))


def _begins(score: Score) -> bool:
    """Tell whether a format of any program takes lines that may begin a record.

    Where nothing tells which program wrote a file, what all of them write is kept.
    """
    patterns = score.format.patterns
    some = any(count and not patterns[at].more for at, count in score.hits.items())
    return some and bool(score.format.general) and not score.format.weak


def patterns_of(format_: Format, program: str = "") -> list[Pattern]:
    """Give the patterns for lines of a program by its name, or of a nameless one."""
    if program:
        return [one for one in format_.patterns if program in one.programs]
    return [one for one in format_.patterns if not one.programs]


def _score(
    format_: Format, text: pl.Series, sight: Sight, program: str
) -> tuple[Score, pl.Series]:
    """Score a format, and give the positions of the lines that it leaves."""
    patterns = patterns_of(format_, program)
    likely = [one for one in patterns if sight.may_hold(one.hint)]
    hits, left = take(text, [(format_, likely)])
    numbers = [format_.patterns.index(pattern) for pattern in patterns]
    score = Score(format_, hits=dict.fromkeys(numbers, 0))
    for hit in hits:
        count = len(hit.fields)
        score.hits[format_.patterns.index(hit.pattern)] += count
        score.total += count
        if hit.pattern.telling or (program and not hit.pattern.weak):
            score.own += count
    return score, left


def order(score: Score) -> tuple[int, ...]:
    """Give the patterns, those that take most first: a file has one reading."""
    rest = [pattern.rest for pattern in score.format.patterns]
    return tuple(
        sorted(
            score.hits,
            key=lambda at: (rest[at], 0 if rest[at] else -score.hits[at], at),
        )
    )
