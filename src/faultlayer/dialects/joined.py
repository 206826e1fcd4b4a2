"""Joins what the templates of one format file say of columns, stamps and upstreams."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from faultlayer.definitions import Reader
from faultlayer.dialects.template import Layout
from faultlayer.shape import Field, Stamp, Upstream


def fields(
    layouts: Sequence[Layout], reader: Reader, given: Collection[str]
) -> dict[str, Field]:
    """Join what templates say of columns; one scale must do for all of them."""
    found: dict[str, Field] = {}
    for layout in layouts:
        for column, field in layout.fields.items():
            before = found.get(column)
            if before is None or column in given:
                found[column] = field
                continue
            if before.scale != field.scale:
                reader.wrong(
                    f"two patterns give {column} in different units",
                    "[[pattern]]",
                    hint=f"put one into a file of its own, or say {column} in [fields]",
                )
            sources = dict.fromkeys((*before.sources, *field.sources))
            found[column] = Field(tuple(sources), before.scale)
    return found


def stamps(layouts: Sequence[Layout]) -> tuple[Stamp, ...]:
    """Join the stamps of templates, each field with all of its spellings."""
    found: dict[str, Stamp] = {}
    for stamp in (stamp for layout in layouts for stamp in layout.stamps):
        before = found.get(stamp.field)
        spelt = (*before.formats, *stamp.formats) if before else stamp.formats
        found[stamp.field] = Stamp(
            stamp.field, tuple(dict.fromkeys(spelt)), start=stamp.start
        )
    return tuple(found.values())


def upstream(layouts: Sequence[Layout]) -> Upstream | None:
    """Join the upstream fields of templates."""
    found = [layout.upstream for layout in layouts if layout.upstream is not None]
    if not found:
        return None
    return Upstream(
        connect=tuple(dict.fromkeys(name for one in found for name in one.connect)),
        header=tuple(dict.fromkeys(name for one in found for name in one.header)),
        response=tuple(dict.fromkeys(name for one in found for name in one.response)),
        peer=tuple(dict.fromkeys(name for one in found for name in one.peer)),
        scale=found[0].scale,
    )


def reasons(layouts: Sequence[Layout]) -> dict[str, Field]:
    """Join what templates say of an exchange's end."""
    found: dict[str, Field] = {}
    for name, field in (item for layout in layouts for item in layout.reason.items()):
        before = found.get(name, Field(()))
        sources = dict.fromkeys((*before.sources, *field.sources))
        found[name] = replace(field, sources=tuple(sources))
    return found
