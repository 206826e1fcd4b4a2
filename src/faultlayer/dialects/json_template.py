"""Templates that spell a JSON object: its keys are the fields, its values the elements."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from faultlayer.compile import JsonShape, PatternError
from faultlayer.dialects.template import (
    METHOD,
    PATH,
    PROTOCOL,
    Element,
    Layout,
    meanings,
)

_FIRST: Final = 0xE000  # placeholders are characters for private use
_PLACE: Final = re.compile("[\ue000-\uf8ff]")


def place(number: int) -> str:
    """Give what stands in a value for the element of a number."""
    return chr(_FIRST + number)


def line(elements: Sequence[Element]) -> Layout:
    """Give the layout of a template that spells a JSON object.

    Raises `PatternError` when it does not.
    """
    written = ""
    quoted = False
    there = list(elements)
    for number, one in enumerate(elements):
        if one.literal:
            written += one.text
            quoted ^= len(re.findall(r'(?<!\\)"', one.text)) % 2 == 1
        else:
            here = place(number)
            written += here if quoted else f'"{here}"'
            # What stands in quotes is text, if perhaps an empty one.
            there[number] = replace(one, always=one.always or quoted)
    try:
        whole = json.loads(written)
    except ValueError as error:
        msg = f"the template is no JSON: {_shown(str(error))}"
        raise PatternError(msg) from None
    if not isinstance(whole, dict):
        msg = "the template is JSON, but no object"
        raise PatternError(msg)
    return table(whole, there)


def _shown(message: str) -> str:
    return _PLACE.sub("$", message)


def table(whole: Mapping[str, object], elements: Sequence[Element]) -> Layout:
    """Give the layout of a JSON object whose values hold places of elements."""
    found: list[Element] = []
    values: dict[str, tuple[str, ...]] = {}
    require: list[str] = []
    for path, value in _leaves(whole, ()):
        key = ".".join(path)
        if not isinstance(value, str):
            continue
        places = [ord(one) - _FIRST for one in _PLACE.findall(value)]
        inside = [elements[one] for one in places]
        if not inside:
            if len(path) == 1 and value:
                values[key] = (value,)
        elif len(inside) == 1 and not _PLACE.sub("", value).strip("[]"):
            found.append(replace(inside[0], name=key))
        elif all(one.column in {METHOD, PATH, PROTOCOL} for one in inside):
            found.append(replace(inside[0], name=key, column="message"))
        elif (joined := _joined_stamp(value, inside)) is not None:
            found.append(replace(joined, name=key))
        if any(one.always for one in inside) and path[0] not in require:
            require.append(path[0])
    keys = tuple(dict.fromkeys(str(key) for key in whole))
    if not require and not values:
        require = list(keys[:1])
    shape = JsonShape(
        require=tuple(require),
        one_of=(),
        forbid=(),
        keys=keys,
        values=values,
    )
    example = json.dumps(_filled(whole, elements), ensure_ascii=False)
    return meanings(found, Layout(json=shape, names=keys, example=example))


def _joined_stamp(value: str, inside: Sequence[Element]) -> Element | None:
    """Give a stamp that several elements with text between them spell."""
    stamps = [one for one in inside if one.stamp]
    if len(stamps) != 1 or not value.startswith(_PLACE.findall(value)[0]):
        return None
    return stamps[0] if inside[0] is stamps[0] else None


def _leaves(
    whole: Mapping[str, object], path: tuple[str, ...]
) -> Iterable[tuple[tuple[str, ...], object]]:
    for key, value in whole.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, (*path, str(key)))
        else:
            yield (*path, str(key)), value


def _filled(value: object, elements: Sequence[Element]) -> object:
    if isinstance(value, Mapping):
        return {str(key): _filled(one, elements) for key, one in value.items()}
    if isinstance(value, list):
        return [_filled(one, elements) for one in value]
    if not isinstance(value, str):
        return value
    places = _PLACE.findall(value)
    filled = _PLACE.sub(
        lambda match: elements[ord(match.group()) - _FIRST].example, value
    )
    if len(places) == 1 and len(value) == 1:
        element = elements[ord(value) - _FIRST]
        if element.always and re.fullmatch(r"\d+(\.\d+)?", filled):
            return float(filled) if "." in filled else int(filled)
    return filled
