"""Sets the page: templates filled with what the case says, in one file of HTML."""

import base64
import hashlib
from collections.abc import Mapping
from functools import partial
from importlib.resources import files
from typing import Any

import jinja2

import faultlayer
from faultlayer import clock_words, incident_words, wording
from faultlayer.masking import shown
from faultlayer.report_page import bars, catalogue, flow, heat, offsets, waterfall
from faultlayer.report_page.asked import Asked
from faultlayer.report_page.shapes import Chart
from faultlayer.summary import Values

INCIDENTS = 20
"""Incidents that are told one by one."""


def html(asked: Asked, name: str, lang: str) -> str:
    """Give the whole page about the case called `name`, in a language of the catalogue.

    The same case gives the same text.
    """
    say = partial(catalogue.say, lang)
    style = files("faultlayer.report_page").joinpath("templates", "style.css")
    css = style.read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    return (
        _templates()
        .get_template("page.html.j2")
        .render(
            lang=lang,
            name=shown(name),
            version=faultlayer.__version__,
            css=css,
            digest=digest,
            words=say,
            v=asked.values,
            a=asked.answers,
            victim=asked.victim,
            charts=_charts(asked, say),
            clocks=offsets.table(asked.answers["clocks"].rows, say),
            assumed=[shown(one) for one in asked.values["assumed"]],
            layers=[
                (shown(glob), *map(shown, said))
                for glob, said in asked.values["layers"].items()
            ],
            reference=_reference(asked.values),
            continued=asked.values["conservation"].get("continuation_lines", 0),
            incidents=asked.values["incidents"][:INCIDENTS],
            numbers={
                row["incident_id"]: number
                for number, row in enumerate(asked.values["incidents"], 1)
            },
        )
    )


def _charts(asked: Asked, say: bars.Say) -> dict[str, Chart]:
    found = (
        bars.chart(asked.answers["failures"].rows, say),
        heat.chart(asked.answers["latency"].rows, say),
        waterfall.chart(asked.victim, say),
        flow.balances(asked.answers["pools"].rows, asked.answers["forecast"].rows, say),
        flow.spending(
            asked.answers["spending"].rows, asked.answers["forecast"].rows, say
        ),
        offsets.chart(
            asked.answers["clocks"].rows, asked.answers["totals"].rows[0], say
        ),
    )
    return {chart.name: chart for chart in found if chart is not None}


def _reference(values: Values) -> list[str]:
    """Say when the reference itself was set."""
    by_clock: dict[str, list[Values]] = {}
    for segment in values["clocks"]:
        by_clock.setdefault(segment["clock_id"], []).append(segment)
    return clock_words.reference_steps([*by_clock.values()], None)


def _templates() -> jinja2.Environment:
    environment = jinja2.Environment(
        autoescape=True,
        loader=jinja2.PackageLoader("faultlayer.report_page", "templates"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.update(_WORDS)
    return environment


_WORDS: Mapping[str, Any] = {
    "count": wording.count,
    "percent": wording.percent,
    "moment": wording.moment,
    "span": wording.span,
    "error": wording.error,
    "seconds": incident_words.seconds,
    "part": incident_words.part,
}
