"""Finds configurations among the logs, and reads the formats that they give to logs."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import polars as pl

from faultlayer import patterns
from faultlayer.blocks import open_source
from faultlayer.compile import PatternError, Plan
from faultlayer.detect import Definitions
from faultlayer.dialects import (
    apache,
    embedded,
    envoy,
    envoy_conf,
    haproxy_conf,
    nginx_conf,
    python_conf,
    python_logging,
)
from faultlayer.dialects.template import Layout
from faultlayer.errors import SourceError
from faultlayer.find import Source
from faultlayer.patterns import Said
from faultlayer.shape import Format, Pattern
from faultlayer.take import take

_MOST_BYTES: Final = 1 << 20
# A log is not looked into, whatever it may quote.
_CONFIG: Final = re.compile(
    r"(?i)(?:\.(?:conf|cfg|cnf|ini|ya?ml|json|toml|py|env|tmpl|tpl|template|inc|j2)(?:\.\w+)?$"
    r"|(?:^|/)(?:nginx|httpd|apache2|haproxy|envoy)[^/]*(?:\.txt)?$"
    r"|/(?:sites-(?:enabled|available)|conf\.d|vhosts\.d)/[^/]+$)"
)
# In these a configuration may stand as a text.
_STRUCTURED: Final = re.compile(r"(?i)\.(?:ya?ml|json|tpl|template|j2)(?:\.\w+)?$")
#: Columns that a logger's layout may have and a format of any program misses.
_WHOSE: Final = ("request_id", "user_id", "project_id", "tenant_id", "model")
_LOG: Final = re.compile(r"(?i)(?:\.log\b|access|error)[^/]*$")
_APACHE: Final = re.compile(
    r'(?m)^[ \t]*LogFormat[ \t]+"((?:[^"\\]|\\.)*)"(?:[ \t]+(\S+))?'
)
# What `capture request header` and its like are in, and a log-format.
_HAPROXY: Final = re.compile(r"(?m)^[ \t]*(?:log-format[ \t]|option[ \t]+\w*log\b)")


@dataclass(frozen=True, slots=True)
class _Given:
    """A format that a configuration gives: its dialect, its name, and where it stands."""

    dialect: str
    name: str
    path: str
    line: int
    said: Said
    layout: Layout
    title: str
    escapes: bool = False


def among(sources: Sequence[Source], definitions: Definitions) -> Definitions:
    """Put the formats of configurations that lie among sources before the built-in ones.

    What a built-in format has to the letter is left to it, and so is a format that could
    be that of any line.
    """
    given: list[_Given] = []
    logs: dict[str, list[str]] = {}
    for source in sources:
        text = _text(source)
        if text is None:
            continue
        given += _of_nginx(source.path, text, logs)
        given += _of_others(source.path, text)
    if not given:
        return definitions
    known = _known(definitions)
    found: dict[str, Format] = {}
    shapes = set(known)
    for one in given:
        shape = _shape(one.said)
        if shape in shapes or not _telling(one.layout):
            continue
        if _is_logger(one.layout) and not _tells_more(one.layout, definitions):
            continue
        shapes.add(shape)
        name = f"{one.dialect}:{one.name}"
        if name in found:
            name = f"{name}@{one.path}:{one.line}"
        files = logs.get(one.name, []) if one.dialect == "nginx" else []
        found[name] = _format(name, one, files)
    whole = sorted(
        [*definitions.formats, *found.values()], key=lambda format_: format_.name
    )
    return replace(definitions, formats=tuple(whole))


def _text(source: Source) -> str | None:
    """Give the text of what may be a configuration."""
    path = source.path
    if not _CONFIG.search(path) or (_LOG.search(path) and not path.endswith(".conf")):
        return None
    if source.size > _MOST_BYTES:
        return None
    try:
        with open_source(source, _MOST_BYTES) as opened:
            for block in opened:
                return block.data.decode("utf-8", "replace")
    except SourceError:
        return None  # told when it is read as a log
    return None


def _of_nginx(path: str, text: str, logs: dict[str, list[str]]) -> Iterator[_Given]:
    if not any(mark in text for mark in nginx_conf.MARKS):
        return
    inside = [
        (line, one)
        for line, one in (embedded.texts(text) if _STRUCTURED.search(path) else ())
        if any(mark in one for mark in nginx_conf.MARKS)
    ]
    if not inside or "log-format-upstream" in text:
        inside.append((0, text))
    for line, one in inside:
        yield from _of_conf(path, one, line, logs)


def _of_conf(
    path: str, text: str, above: int, logs: dict[str, list[str]]
) -> Iterator[_Given]:
    """Give the formats of a configuration that stands below so many lines of a file."""
    # Every file of a configuration is here by itself, so none has to be included.
    found = nginx_conf.read(path, text, lambda _: [])
    for log in found.logs:
        files = logs.setdefault(log.format, [])
        if log.file not in files:
            files.append(log.file)
    for one in found.formats:
        try:
            # Each variable by its own shape: the log may be older than its configuration,
            # and a line with other fields must not be read as one of these.
            said = patterns.of_layout(nginx_conf.layout(one))
        except PatternError:
            continue
        if said.layout is not None:
            yield _Given(
                "nginx", one.name, path, above + one.line, said, said.layout,
                f"log_format {one.name} of {path}:{above + one.line}",
                escapes=one.escape == "default",
            )  # fmt: skip


def _of_others(path: str, text: str) -> Iterator[_Given]:
    """Give the formats of Apache, HAProxy and Envoy configurations."""
    for number, (dialect, name, line, layout) in enumerate(_layouts(path, text), 1):
        said = patterns.of_layout(layout)
        title = f"{dialect} log format of {path}:{line}"
        yield _Given(dialect, name or str(number), path, line, said, layout, title)


def _layouts(path: str, text: str) -> Iterator[tuple[str, str, int, Layout]]:
    for found in _APACHE.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        try:
            layout = apache.layout(found.group(1))
        except PatternError:
            continue
        yield "apache", found.group(2) or "", line, layout
    if _HAPROXY.search(text):
        for line, name, layout in haproxy_conf.layouts(text):
            yield "haproxy", name, line, layout
    for one in python_conf.formats(text):
        try:
            layout = python_logging.layout(one.format, one.datefmt)
        except PatternError:
            continue
        yield "python", one.name, one.line, layout
    if path.endswith((".json", ".yaml", ".yml")):
        for line, format_ in envoy_conf.formats(text):
            try:
                layout = envoy.layout(format_)
            except PatternError:
                continue
            yield "envoy", "", line, layout


def _known(definitions: Definitions) -> set[object]:
    """Give the shapes of all formats that are there already."""
    return {
        tuple(pattern.pieces())
        for format_ in definitions.formats
        for pattern in format_.patterns
        if pattern.json is None
    }


def _shape(said: Said) -> object:
    return tuple(said.pieces()) if said.json is None else repr(said.json)


def _telling(layout: Layout) -> bool:
    """Tell whether a line of the layout can be told from those of any other program."""
    if layout.json is not None:
        return len(layout.names) > 2 and bool(layout.fields)  # noqa: PLR2004
    return bool(layout.stamps) and ("status" in layout.fields or _is_logger(layout))


def _is_logger(layout: Layout) -> bool:
    """Tell whether lines of the layout are records of a program, and no exchanges."""
    return "message" in layout.names and "level" in layout.names


def _tells_more(layout: Layout, definitions: Definitions) -> bool:
    """Tell whether a logger's layout tells what no format does that takes its lines.

    Who knows one program knows more of it than its layout; of any program the layout may
    have the id or the user.
    """
    line = pl.Series([layout.example])
    takers = [
        one
        for one in definitions.formats
        if not one.weak
        and any(
            take(line, [(one, [pattern])])[0]
            for pattern in one.patterns
            if pattern.telling
        )
    ]
    if any(not one.general for one in takers):
        return False
    return not takers or any(column in layout.fields for column in _WHOSE)


def _format(name: str, one: _Given, files: Sequence[str]) -> Format:
    title = f"{one.title}, for {', '.join(files)}" if files else one.title
    layout = one.layout
    logger = _is_logger(layout)
    pattern = Pattern(
        name=one.name,
        names=one.said.names,
        make=partial(_plans, one.said),
        hinted=one.said.hinted,
        pieces=one.said.pieces,
        json=one.said.json,
        kind=None if logger else "access",
        fixed={},
        weak=False,
        single=False,
        shared=False,
        more=False,
        rest=False,
    )
    return Format(
        name=name,
        layer="harness",
        component="harness" if logger else one.dialect,
        title=title,
        misses="",
        framing="traceback" if logger else "line",
        weak=False,
        shares=(),
        patterns=(pattern,),
        stamps=layout.stamps,
        fields=layout.fields,
        attrs={},
        raw_json=frozenset(),
        drop=frozenset(),
        upstream=layout.upstream,
        reason=layout.reason,
        extracts=(),
        pairs="message" if logger else None,
        engine_ids=False,
        escapes=one.escapes,
        samples=(),
        rejects=(),
        path=one.path,
        text="",
        given=True,
        general=int(logger),
    )


def _plans(said: Said) -> tuple[Plan, ...]:
    return patterns.untrusted(said.make())
