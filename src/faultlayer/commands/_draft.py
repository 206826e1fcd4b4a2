"""What `formats new` was given: notations and logs, made into shapes of a draft."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from faultlayer import drafting, guess
from faultlayer.compile import PatternError
from faultlayer.detect import Definitions, clean
from faultlayer.dialects import (
    apache,
    envoy,
    envoy_conf,
    haproxy,
    nginx_conf,
    python_logging,
)
from faultlayer.dialects.template import Layout
from faultlayer.draft_text import Head, Shape, cut, string, texts
from faultlayer.errors import DefinitionError, SourceError, UsageError

_HEAD = 4 << 20  # bytes of a log from which samples are taken


def lines_of(path: Path) -> list[str]:
    """Give the first lines of a log, without colours; raises `SourceError`."""
    from faultlayer import find, lines
    from faultlayer.blocks import open_source

    [source, *_] = find.find([str(path)]).sources
    with open_source(source, _HEAD) as opened:
        for block in opened:
            text = lines.lines_of(block).get_column("text")
            whole: list[str] = clean(text).to_list()
            return [line.rstrip("\r") for line in whole]
    raise SourceError(f"{path} is empty")


def said(text: str) -> str:
    """Give what an option says, or what the file says that it names with `@`."""
    if not text.startswith("@"):
        return text
    return read(Path(text[1:]))


def read(path: Path) -> str:
    """Read a file; raises `SourceError`."""
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SourceError(f"{path} is no text: {error}") from error


def of_nginx(texts_: Sequence[str]) -> Iterator[Shape]:
    """Give shapes of `log_format` directives, or of their strings alone."""
    for number, text in enumerate(texts_, 1):
        found = nginx_conf.read("--nginx", f"{text}\n;", lambda _: []).formats
        if not found:
            name = "line" if len(texts_) == 1 else f"line_{number}"
            found = (nginx_conf.LogFormat(name, "default", text, "--nginx", 1),)
        for one in found:
            yield _nginx(one)


def of_nginx_conf(path: Path) -> Iterator[Shape]:
    """Give shapes of all `log_format` of a configuration and of what it includes."""
    folder = path.parent

    def other(pattern: str) -> list[tuple[str, str]]:
        # What the machine has at an absolute path lies somewhere below this one here.
        relative = pattern.lstrip("/")
        tries = [relative, *(part for part in _tails(relative) if part)]
        for one in tries:
            files = sorted(file for file in folder.glob(one) if file.is_file())
            if files:
                return [(file.as_posix(), read(file)) for file in files]
        return []

    found = nginx_conf.read(path.as_posix(), read(path), other).formats
    if not found:
        raise UsageError(
            f"{path} has no log_format",
            hint="nginx writes `combined` then, which is built in",
        )
    names = [one.name for one in found]
    for number, one in enumerate(found):
        shape = _nginx(one)
        if names.count(one.name) > 1:
            shape = Shape(
                f"{one.name}_{number}", shape.keys, shape.example, shape.layout
            )
        yield shape


def _tails(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[number:]) for number in range(1, len(parts))]


def _nginx(one: nginx_conf.LogFormat) -> Shape:
    layout = _layout("log_format", lambda: nginx_conf.layout(one))
    keys = [f"log_format = {texts(cut(one.text))}"]
    if one.escape != "default":
        keys.append(f"escape = {string(one.escape)}")
    return Shape(_name(one.name), tuple(keys), layout.example, layout)


def of_envoy(text: str) -> Iterator[Shape]:
    """Give the shape of an Envoy format, or those of a whole configuration."""
    found = [one for _, one in envoy_conf.formats(text)] or [text]
    for number, one in enumerate(found, 1):
        layout = _layout("Envoy format", partial(envoy.layout, one))
        written = one if isinstance(one, str) else json.dumps(one)
        name = "line" if len(found) == 1 else f"line_{number}"
        keys = (_key("envoy_format", written),)
        yield Shape(name, keys, layout.example, layout)


def of_haproxy(text: str) -> Shape:
    """Give the shape of a `log-format`, with or without the word before it."""
    text = re.sub(r'^\s*log-format\s+"?(.*?)"?\s*$', r"\1", text)
    layout = _layout("log-format", lambda: haproxy.layout(text))
    return Shape("line", (_key("haproxy_format", text),), layout.example, layout)


def of_apache(text: str) -> Shape:
    """Give the shape of a `LogFormat`."""
    layout = _layout("LogFormat", lambda: apache.layout(text))
    return Shape("line", (_key("apache_format", text),), layout.example, layout)


def of_python(text: str, datefmt: str) -> Shape:
    """Give the shape of a format of Python's logging."""
    layout = _layout("logging format", lambda: python_logging.layout(text, datefmt))
    keys = [_key("python_format", text)]
    if datefmt:
        keys.append(f"datefmt = {string(datefmt)}")
    return Shape("line", tuple(keys), layout.example, layout)


def _key(name: str, text: str) -> str:
    text = text.rstrip("\n")
    return f"{name} = {string(text) if len(text) < 90 else texts(cut(text))}"  # noqa: PLR2004


def _layout(what: str, make: Callable[[], Layout]) -> Layout:
    try:
        return make()
    except PatternError as error:
        raise DefinitionError(f"this {what} cannot be read: {error}") from None


def of_lines(lines: Sequence[str]) -> list[Shape]:
    """Guess shapes from the lines of a log alone; raises `UsageError` for none."""
    found = guess.guess(lines)
    if not found:
        raise UsageError(
            "its lines show no stamp, level, bracket or key that a pattern could be "
            "made of",
            hint="write a regex by hand: parsers/README.md goes through it",
        )
    # A line goes to the first pattern that takes it: the one that asks most of it.
    found = sorted(found, key=lambda one: -len(one.parts))
    return [_guessed(one) for one in found]


def _guessed(one: guess.Guess) -> Shape:
    if one.json:
        keys = ["", "[pattern.json]", f"require = {texts(one.json)}"]
    else:
        keys = [f"regex = {texts(list(_joined(one.parts)))}"]
    return Shape(
        one.name,
        tuple(keys),
        fields=dict(one.fields),
        time=one.time,
        spelt=one.spelt,
        pairs=one.pairs,
    )


def _joined(parts: Sequence[str]) -> Iterator[str]:
    """Join parts to strings that are worth a line."""
    line = ""
    for part in parts:
        if line and len(line) + len(part) > 76:  # noqa: PLR2004 - a line of a file
            yield line
            line = ""
        line += part
    if line:
        yield line


def _name(text: str) -> str:
    return re.sub(r"\W+", "_", text).strip("_") or "line"


def is_access(shapes: Sequence[Shape]) -> bool:
    """Tell whether each line is a finished exchange."""
    told: list[Mapping[str, object]] = [
        one.layout.fields if one.layout is not None else one.fields for one in shapes
    ]
    return all(
        "status" in fields or any("<status>" in key for key in one.keys)
        for fields, one in zip(told, shapes, strict=True)
    )


def made(
    name: str,
    definitions: Definitions,
    *,
    nginx: Sequence[str],
    conf: Path | None,
    envoy: str | None,
    haproxy: str | None,
    apache: str | None,
    python: str | None,
    datefmt: str,
    log: Path | None,
    sample_from: Path | None,
    layer: str,
    component: str,
) -> tuple[str, list[DefinitionError]]:
    """Draft what was asked for: the file, and what it is not proved for.

    Raises `UsageError` when nothing or too much was asked for.
    """
    kinds = {
        "nginx": bool(nginx) or conf is not None,
        "envoy": envoy is not None,
        "haproxy": haproxy is not None,
        "apache": apache is not None,
        "python": python is not None,
        "": log is not None,
    }
    asked = [kind for kind, there in kinds.items() if there]
    if len(asked) != 1:
        raise UsageError(
            "a draft is made of one notation, or of a log with --from",
            hint="--nginx, --nginx-conf, --envoy, --haproxy, --apache, "
            "--python-logging or --from",
        )
    source = log or sample_from
    lines = lines_of(source) if source is not None else []
    shapes = list(
        _shapes(asked[0], nginx, conf, envoy or haproxy or apache or python, datefmt)
        if asked[0]
        else of_lines(lines)
    )
    access = is_access(shapes)
    head = Head(
        name=name,
        layer=layer,
        component=component or asked[0] or name,
        title=f"Review: {'exchanges' if access else 'records'} of {asked[0] or name}",
        access=access,
        framing="line" if access else "traceback",
        escapes=asked[0] == "nginx"
        and not any("escape =" in key for one in shapes for key in one.keys),
    )
    return drafting.draft(head, shapes, lines, definitions)


def _shapes(
    kind: str,
    nginx: Sequence[str],
    conf: Path | None,
    text: str | None,
    datefmt: str,
) -> Iterator[Shape]:
    if kind == "nginx":
        if conf is not None:
            yield from of_nginx_conf(conf)
        yield from of_nginx([said(one) for one in nginx])
    elif text is not None:
        whole = said(text)
        if kind == "envoy":
            yield from of_envoy(whole)
        elif kind == "python":
            yield of_python(whole, datefmt)
        else:
            yield of_haproxy(whole) if kind == "haproxy" else of_apache(whole)
