"""What a chart is made of: plain shapes, which a template writes as SVG."""

from collections.abc import Sequence
from dataclasses import dataclass

from faultlayer.render import cell_len

WIDTH = 900
"""Width of every chart, px of its own coordinates."""

_CELL_PX = 6.4


@dataclass(frozen=True, slots=True)
class Shape:
    """One shape: `rect`, `line`, `path`, `text` or `circle`, with its attributes.

    `css` are class names; `title` is what a pointer over it shows.
    """

    kind: str
    attributes: tuple[tuple[str, str], ...]
    css: str = ""
    text: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """The numbers of a chart, for who does not see it; `heads` are its first column."""

    headers: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture with its words: `name` is unique in a page, `query` gives its data."""

    name: str
    title: str
    desc: str
    height: float
    shapes: Sequence[Shape]
    table: Table
    query: str
    legend: Sequence[tuple[str, str]] = ()


def rect(
    x: float, y: float, w: float, h: float, css: str, title: str = "", **more: str
) -> Shape:
    """Give a rectangle; its corner is at the upper left."""
    numbers = {"x": x, "y": y, "width": max(w, 0.0), "height": max(h, 0.0)}
    return Shape("rect", _attributes(numbers, more), css, "", title)


def segment(x1: float, y1: float, x2: float, y2: float, css: str) -> Shape:
    """Give a straight line."""
    return Shape("line", _attributes({"x1": x1, "y1": y1, "x2": x2, "y2": y2}), css)


def path(
    points: Sequence[tuple[float, float]], css: str, title: str = "", *, closed: bool
) -> Shape:
    """Give a line through points, closed to an area or open."""
    steps = " ".join(
        f"{'L' if n else 'M'}{fit(x)} {fit(y)}" for n, (x, y) in enumerate(points)
    )
    return Shape("path", (("d", steps + (" Z" if closed else "")),), css, "", title)


def label(x: float, y: float, text: str, css: str = "", anchor: str = "start") -> Shape:
    """Give a text; `anchor` says which part of it is at x: start, middle or end."""
    numbers = _attributes({"x": x, "y": y}, {"text-anchor": anchor})
    return Shape("text", numbers, css, text)


def circle(x: float, y: float, r: float, css: str, title: str = "") -> Shape:
    """Give a dot."""
    return Shape("circle", _attributes({"cx": x, "cy": y, "r": r}), css, "", title)


def width_of(text: str) -> float:
    """Give about how wide a label is, px; wide characters count twice."""
    return cell_len(text) * _CELL_PX


def shortened(text: str, room: float) -> str:
    """Cut a label to a width, px; what is cut is marked."""
    if width_of(text) <= room:
        return text
    while text and width_of(text) + _CELL_PX > room:
        text = text[:-1]
    return text + "…"


def fit(number: float) -> str:
    """Spell a coordinate with at most one decimal."""
    text = f"{number:.1f}"
    return text.removesuffix(".0")


def _attributes(
    numbers: dict[str, float], more: dict[str, str] | None = None
) -> tuple[tuple[str, str], ...]:
    spelled = [(name, fit(number)) for name, number in numbers.items()]
    return (*spelled, *((more or {}).items()))
