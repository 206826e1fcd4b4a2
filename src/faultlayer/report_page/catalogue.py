"""The words of the page in each of its languages, from a data file."""

import functools
import tomllib
from importlib.resources import files
from typing import Final

from faultlayer.errors import AssetError

LANGUAGES: Final = ("en", "zh")
"""Languages of the page, by their codes."""


def say(lang: str, key: str, **parts: object) -> str:
    """Give a text in a language, with its `{parts}` filled in.

    Raises AssetError for a key that is not there.
    """
    try:
        text = texts()[key][lang]
    except KeyError as error:
        raise AssetError(f"the report has no text {key} in {lang}") from error
    return text.format(**parts) if parts else text


@functools.cache
def texts() -> dict[str, dict[str, str]]:
    """Give every text by its key, `section.name`, and language."""
    path = files("faultlayer.report_page") / "texts.toml"
    sections = tomllib.loads(path.read_text("utf-8"))
    return {
        f"{section}.{name}": spoken
        for section, names in sections.items()
        for name, spoken in names.items()
    }
