"""The HTML report: every number is what its SQL gives, and it stands for itself."""

import itertools
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from tests import chromium

from faultlayer import database, wording
from faultlayer.case import Case, open_case
from faultlayer.cli import run
from faultlayer.report_page import asked, page, shapes
from faultlayer.report_page.asked import Asked

SAMPLES = Path(__file__).resolve().parent.parent / "sample_logs"
LIMIT_BYTES = 2_000_000
#: Elements without an end.
VOID = {"meta", "wbr", "br", "link"}
CONTRAST = 4.5

Attributes = dict[str, str]


class Page(HTMLParser):
    """The elements of a page, in order: tag, attributes, own text; and what is amiss."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, Attributes, list[str]]] = []
        self.amiss: list[str] = []
        self._open: list[tuple[str, list[str]]] = []
        self.feed(text)
        self.close()
        self.amiss += [f"{tag} is not closed" for tag, _ in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        texts: list[str] = []
        self.elements.append((tag, {k: v or "" for k, v in attrs}, texts))
        if tag not in VOID:
            self._open.append((tag, texts))

    def handle_endtag(self, tag: str) -> None:
        """Note an end that fits nothing."""
        if not self._open or self._open[-1][0] != tag:
            self.amiss.append(f"</{tag}> at {self.getpos()}")
            return
        self._open.pop()

    def handle_data(self, data: str) -> None:
        """Give a text to all that are open."""
        for _, texts in self._open:
            texts.append(data)

    def all(self, tag: str) -> list[tuple[Attributes, str]]:
        """Give attributes and text of each element of a tag."""
        return [
            (attributes, "".join(texts).strip())
            for name, attributes, texts in self.elements
            if name == tag
        ]


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """Analyze the sample with causes of all layers."""
    folder = tmp_path_factory.mktemp("report") / "model busy"
    logs = SAMPLES / "model_busy" / "logs"
    with pytest.raises(SystemExit) as ended:
        run(["analyze", str(logs), "--case", str(folder), "--quiet"])
    assert ended.value.code == 0
    return open_case(folder)


@pytest.fixture(scope="module")
def known(case: Case) -> Asked:
    """Ask all that the page shows."""
    return asked.ask(case)


@pytest.fixture(scope="module", params=["en", "zh"])
def text(case: Case, known: Asked, request: pytest.FixtureRequest) -> str:
    """Give the page in each language."""
    return page.html(known, case.path.name, request.param)


@pytest.fixture(scope="module")
def read(text: str) -> Page:
    """Give the elements of the page."""
    return Page(text)


def test_every_number_is_what_its_sql_gives(case: Case, read: Page) -> None:
    """The SQL of the appendix, run as it stands, gives each number that is shown."""
    printed = {a["data-query"]: t for a, t in read.all("code") if "data-query" in a}
    rows: dict[str, list[dict[str, Any]]] = {}
    con = database.connect()
    database.attach_views(con, case.path, sandbox=True)  # as `faultlayer sql` does
    for name, sql in printed.items():
        rows[name] = database.rows(con, database.one_statement(con, sql))
    con.close()
    figures = [one for one in read.all("data") if "data-figure" in one[0]]
    assert len(figures) > 60
    for attributes, shown in figures:
        query, row, column = attributes["data-figure"].split(".")
        value = rows[query][int(row)][column]
        assert attributes["value"] == str(value)
        assert shown == wording.count(value)
    for attributes, _ in read.all("time"):
        if "data-figure" in attributes:
            query, row, column = attributes["data-figure"].split(".")
            value = rows[query][int(row)][column]
            assert attributes["datetime"] == f"{value.isoformat()}Z"


def test_the_numbers_of_the_sample(text: str, read: Page) -> None:
    """What the first page says is what is known of the sample."""
    lead = next(t for a, t in read.all("p") if a.get("class") == "lead")
    numbers = [
        int(number) for number in re.findall(r"(?<![\d:.-])\d+(?![\d:.-])", lead)
    ]
    assert sorted(numbers) == sorted([344, 57, 29, 27, 1, 19, 45, 11, 1])
    assert "16.6 %" in lead
    assert "harness.concurrency_limit" in text


def test_links_and_labels_lead_somewhere(read: Page) -> None:
    """What an attribute names is there, once; nothing is left open."""
    assert read.amiss == []
    ids = [a["id"] for _, a, _ in read.elements if "id" in a]
    assert len(ids) == len(set(ids))
    named = [a["href"].removeprefix("#") for a, _ in read.all("a")]
    named += list(
        itertools.chain.from_iterable(
            a["aria-labelledby"].split()
            for _, a, _ in read.elements
            if "aria-labelledby" in a
        )
    )
    assert set(named) <= set(ids)


def test_nothing_is_loaded_and_nothing_runs(text: str, read: Page) -> None:
    """No script, no style attribute, no address, no picture from elsewhere; small."""
    tags = {tag for tag, _, _ in read.elements}
    assert not tags & {"script", "img", "iframe", "link", "object", "form", "input"}
    for _, attributes, _ in read.elements:
        assert not [name for name in attributes if name.startswith("on")]
        assert not attributes.keys() & {"style", "src", "srcset", "action"}
    assert "://" not in text
    policy = next(a for a, _ in read.all("meta") if "http-equiv" in a)["content"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert len(text.encode()) < LIMIT_BYTES


def test_it_is_for_all_readers(read: Page) -> None:
    """One h1, headings in order, landmarks, named pictures, tables with heads."""
    levels = [int(tag[1]) for tag, _, _ in read.elements if re.fullmatch("h[1-6]", tag)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    for landmark in ("header", "nav", "main", "footer"):
        assert len(read.all(landmark)) == 1
    assert read.all("html")[0][0]["lang"] in {"en", "zh-Hans"}
    pictures = [a for a, _ in read.all("svg") if a.get("role") == "img"]
    assert len(pictures) == 6
    assert all(len(a["aria-labelledby"].split()) == 2 for a in pictures)
    assert len(read.all("caption")) == len(read.all("table"))
    assert all("scope" in a for a, _ in read.all("th"))
    assert read.all("a")[0][0]["href"] == "#main"


def test_no_label_leaves_its_picture(read: Page) -> None:
    """Every text of a chart is within it, as wide as its letters make it."""
    edges = {"start": (0.0, 1.0), "middle": (-0.5, 0.5), "end": (-1.0, 0.0)}
    height, seen = 0.0, 0
    for tag, attributes, texts in read.elements:
        if tag == "svg" and attributes.get("role") == "img":
            height = float(attributes["height"])
        if tag == "text":
            seen += 1
            wide = shapes.width_of("".join(texts))
            x, y = float(attributes["x"]), float(attributes["y"])
            left, right = edges[attributes["text-anchor"]]
            assert x + left * wide >= 0, texts
            assert x + right * wide <= shapes.WIDTH, texts
            assert 8 <= y <= height - 2, texts
    assert seen > 50


def test_the_same_case_gives_the_same_page(case: Case, known: Asked) -> None:
    """No date, no order by chance."""
    again = page.html(asked.ask(case), case.path.name, "en")
    assert again == page.html(known, case.path.name, "en")


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_text_stands_out(text: str) -> None:
    """Text and links have the contrast that WCAG AA asks for, light, dark and printed."""
    schemes = re.findall(r":root \{(.*?)\}", text, re.DOTALL)
    assert len(schemes) == 3
    for scheme in schemes:
        colours = dict(re.findall(r"--(\w+): (#\w{6});", scheme))
        for ink in ("ink", "soft", "link"):
            for paper in ("paper", "band"):
                low, high = sorted(_luminance(colours[one]) for one in (ink, paper))
                assert (high + 0.05) / (low + 0.05) >= CONTRAST, (ink, paper)
        for fill in ("model", "harness", "quota", "client", "undetermined", "heat"):
            low, high = sorted(_luminance(colours[one]) for one in (fill, "paper"))
            assert (high + 0.05) / (low + 0.05) >= 3, fill


@pytest.mark.skipif(chromium.COMMAND is None, reason="no Chromium is installed")
def test_a_browser_shows_it(case: Case, known: Asked, tmp_path: Path) -> None:
    """No error, no request, every chart is seen; it reads on without its style too."""
    with chromium.tab(tmp_path / "profile") as tab:
        for lang in ("en", "zh"):
            path = tmp_path / f"{lang}.html"
            path.write_text(page.html(known, case.path.name, lang), "utf-8")
            tab.open(path)
            asks = [
                one["request"]["url"] for one in tab.told("Network.requestWillBeSent")
            ]
            assert asks[-1] == path.resolve().as_uri()
            assert all(url.startswith("file:") for url in asks)
            assert len(tab.value(_CHARTS)) >= 5
            assert [box for box in tab.value(_CHARTS) if min(box) < 60] == []
            for width, media in ((390, ""), (785, ""), (1280, ""), (688, "print")):
                tab.size(width)
                tab.ask("Emulation.setEmulatedMedia", media=media)
                assert tab.value(_OVERFLOW) <= 0, (width, media)
            tab.ask("Emulation.setEmulatedMedia", media="")
            words = tab.value("document.body.innerText").split()
            tab.value("document.querySelector('style').remove()")
            plain = set(tab.value("document.body.innerText").split())
            assert [word for word in words if word not in plain] == []
        assert tab.told("Log.entryAdded") == tab.told("Runtime.exceptionThrown") == []
        grounds = []
        for scheme in ("light", "dark"):
            features = [{"name": "prefers-color-scheme", "value": scheme}]
            tab.ask("Emulation.setEmulatedMedia", features=features)
            tab.open(path)
            grounds.append(sum(map(int, re.findall(r"\d+", tab.value(_GROUND))[:3])))
        assert grounds[1] < 100 < grounds[0]


_CHARTS = """
[...document.querySelectorAll('figure svg[role=img]')].map(one => {
    const box = one.getBoundingClientRect();
    return [box.width, box.height];
})
"""
_OVERFLOW = (
    "document.documentElement.scrollWidth - document.documentElement.clientWidth"
)
_GROUND = "getComputedStyle(document.body).backgroundColor"
