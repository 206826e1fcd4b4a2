"""The keys of format files, once: what each is, which values it may have, what it means.

The loader, `parsers/format.schema.json` and its like come from here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

LAYERS: Final = ("model", "harness", "quota", "host")
FRAMINGS: Final = ("line", "traceback", "prefix")
MARKS: Final = ("", "start", "end")
KINDS: Final = ("", "number", "ratio", "time", "duration", "span")
EPOCHS: Final = (
    "epoch",
    "epoch_s",
    "epoch_ms",
    "epoch_us",
    "uptime_s",
    "uptime_m_s_ms_us",
)
SPLITS: Final = ("spaces", "comma")
ESCAPES: Final = ("default", "json", "none")
TIMINGS: Final = ("before_end", "after_start", "any", "none")
#: What says how a line looks; a pattern has one of them.
SHAPES: Final = (
    "log_format",
    "regex",
    "json",
    "envoy_format",
    "haproxy_format",
    "apache_format",
    "python_format",
)


@dataclass(frozen=True, slots=True)
class Key:
    """A key: `type` is text, texts, flag, number, table, any, or the name of a table.

    `values` are the only ones that it may have.
    """

    name: str
    type: str
    doc: str
    values: Sequence[str] = ()
    required: bool = False


FORMAT: Final = (
    Key("name", "text", "The name of the file, without .toml.", required=True),
    Key("layer", "text", "The layer whose log it is.", LAYERS, required=True),
    Key("component", "text", "The program that writes it.", required=True),
    Key("title", "text", "What it is, for the reader.", required=True),
    Key("url", "text", "Where the format is described."),
    Key("misses", "text", "What this format does not take, for the reader."),
    Key("framing", "text", "How lines become records.", FRAMINGS),
    Key("kind", "text", "The kind of every event, where each line says the same."),
    Key("weak", "flag", "Asked only where no other format fits."),
    Key("shares", "texts", "Formats of programs that write to the same file."),
    Key("companion", "flag", "What stands beside another program's lines."),
    Key("pairs", "text", "A field whose key=value pairs fill columns and attrs."),
    Key("structured", "flag", "Fields of a structured logger join its message."),
    Key(
        "general",
        "rank",
        "Asked after all formats of one program; last: after those too.",
    ),
    Key("engine_ids", "flag", "An engine's prefix is not part of the request id."),
    Key("escapes", "flag", "Bytes are written as \\xHH, as nginx does."),
    Key("raw_json", "texts", "JSON fields that go to attrs as they are."),
    Key("drop", "texts", "Fields that are not worth keeping in attrs."),
)
PATTERN: Final = (
    Key("name", "text", "For samples and messages."),
    Key("log_format", "texts", "The nginx log_format, as its configuration has it."),
    Key("escape", "text", "How that log_format escapes.", ESCAPES),
    Key("regex", "texts", "The whole line, with named groups; strings are joined."),
    Key("json", "pattern.json", "A line that is a JSON object."),
    Key("envoy_format", "any", "Envoy's access log format: a string or a table."),
    Key("haproxy_format", "texts", "HAProxy's log-format, or httplog, tcplog, clf."),
    Key("apache_format", "texts", "Apache's LogFormat, or common, combined."),
    Key("python_format", "texts", "A format of Python's logging, in any style."),
    Key("datefmt", "text", "The datefmt that goes with it."),
    Key("kind", "text", "The kind of its events."),
    Key("set", "columns", "Columns with a fixed value."),
    Key("weak", "flag", "Begins a record only where it cannot go on with one."),
    Key("single", "flag", "No line goes on with it."),
    Key("shared", "flag", "Tells nothing about which program wrote the file."),
    Key("more", "flag", "Never begins a record."),
    Key("until", "text", "The line that ends its record, as a regex."),
    Key("rest", "flag", "Takes what the others leave, however much that is."),
    Key(
        "programs", "texts", "Only for lines that a wrapper says these programs wrote."
    ),
)
JSON: Final = (
    Key("require", "texts", "Keys that must all be there."),
    Key("one_of", "texts", "Keys of which one must be there."),
    Key("any_of", "groups", "Groups of keys; one of each must be there."),
    Key("forbid", "texts", "Keys that must not be there."),
    Key("keys", "texts", "Further keys that the format reads."),
    Key(
        "values",
        "values",
        "Keys and the values that each may have; * at the end: so begins.",
    ),
    Key("list_key", "text", "The key at which a line that is an array is read."),
)
TIME: Final = (
    Key("field", "text", "The field with the stamp.", required=True),
    Key("formats", "texts", "Its spellings: strptime, or epoch_s and its like."),
    Key("marks", "text", "Whether a stamp is the end of the exchange.", MARKS),
    Key("utc", "flag", "A stamp that names no zone is UTC."),
)
UPSTREAM: Final = (
    Key("connect", "texts", "Fields with the times to connect."),
    Key("header", "texts", "Fields with the times to the header."),
    Key("response", "texts", "Fields with the times to the end."),
    Key("peer", "texts", "Fields that say who was tried."),
    Key("answered", "texts", "Fields with the status or length of their answers."),
    Key("scale", "number", "Factor that brings the times to ms; 1000 for seconds."),
)
FIELD: Final = (
    Key("from", "texts", "Fields: the first that says something."),
    Key("scale", "number", "Factor: 1000 for seconds in a column of ms."),
    Key("as", "text", "How it is brought to one form.", KINDS),
    Key("values", "map", "What is written, and what it becomes."),
    Key("join", "text", "Joins all fields with this between."),
)
REASON: Final = (
    *FIELD,
    Key("along", "flag", "Counts only where another field says something."),
)
TABLE: Final = (
    Key("header", "text", "Regex of the line with the names.", required=True),
    Key("split", "text", "What separates the cells.", SPLITS),
    Key("field", "text", "Regex of one value between spaces."),
    Key("units", "text", "Regex of what is taken off the end of a value."),
    Key("prefix", "text", "What stands before the names in the header."),
)
EXTRACT: Final = (
    Key(
        "from",
        "text",
        "The field to look into; by default the message. _record: all of its lines.",
    ),
    Key("regex", "texts", "Its groups fill columns that are still empty."),
)
SAMPLE: Final = (
    Key("line", "text", "A record, of one or more lines.", required=True),
    Key("header", "text", "The header of the table that it stands in."),
    Key("expect", "expect", "The event that it becomes."),
    Key("pattern", "text", "The pattern that must take it."),
)
REJECT: Final = (
    Key("line", "text", "A line that no pattern of this file may take.", required=True),
    Key("header", "text", "The header of the table that it stands in."),
)
TOP: Final = (
    Key("format", "format", "What it is.", required=True),
    Key("table", "table_rows", "Lines below a header that names their cells."),
    Key("time", "time*", "Where the time is; of several the first with a value."),
    Key("pattern", "pattern*", "What lines look like.", required=True),
    Key("fields", "fields", "Event columns and the fields that fill them."),
    Key("attrs", "attrs", "Names in attrs and the fields that fill them."),
    Key("upstream", "upstream", "Times of upstreams, as nginx's lists have them."),
    Key("reason", "reasons", "What an access record itself says of its end."),
    Key("extract", "extract*", "A second look into a field."),
    Key("sample", "sample*", "A record and what it becomes.", required=True),
    Key("reject", "reject*", "A look-alike."),
)

#: What a wrapper may tell of a line, beside its text.
PARTS: Final = (
    "time",
    "stream",
    "tag",
    "host",
    "path",
    "program",
    "pid",
    "priority",
    "request_id",
    "fields",
    "offset",
)
PARTIALS: Final = ("none", "no_newline", "tag")
WRAPPER: Final = (
    Key("name", "text", "The name of the file, without .toml.", required=True),
    Key("title", "text", "What it is, for the reader.", required=True),
    Key("misses", "text", "What it does not unwrap, for the reader."),
    Key("url", "text", "Where it is described."),
    Key("regex", "texts", "The line, with a group text and groups for its parts."),
    Key("json", "wrapper.json", "Where text and parts stand in an object."),
    Key("times", "texts", "Spellings of its stamp."),
    Key("partial", "text", "How lines that were cut are joined.", PARTIALS),
    Key("finer", "flag", "Its stamp is the moment of writing."),
    Key("sure", "flag", "No program writes such lines itself."),
    Key("carry", "flag", "A line without it goes on with the one before."),
    Key("every", "flag", "It is around nearly every line, or none."),
    Key("octal", "flag", "Control characters are written as #012."),
    Key("arrows", "flag", "Values are written as key=>value."),
    Key("find", "parts", "Regexes by the part that they find in fields."),
    Key("lists", "texts", "Where in a JSON document the lines stand."),
)
WRAPPER_JSON: Final = (
    Key("text", "texts", "Where the line is.", required=True),
    *(Key(part, "texts", f"Where {part} is told.") for part in PARTS),
    Key("one_of", "texts", "Keys of which one must be there."),
    Key("forbid", "texts", "Keys that must not be there."),
)
WRAPPER_TOP: Final = (
    Key("wrapper", "wrapper", "How to get at the line inside.", required=True),
    Key("sample", "wrapper.sample*", "A line and what is in it.", required=True),
    Key("reject", "wrapper.reject*", "A look-alike."),
)
SIGNATURE: Final = (
    Key("kind", "text", "The kind that it gives, one of kinds.toml.", required=True),
    Key("at", "text", "Where it stands.", ("start", "line", "anywhere")),
    Key("literals", "texts", "Texts of which one must be there."),
    Key("pattern", "text", "Regex behind the place; its groups go to columns, attrs."),
    Key("layers", "texts", "Layers whose records it is for."),
    Key("components", "texts", "Programs whose records it is for."),
    Key("exclusive", "flag", "Tried before all others; no other one is looked for."),
    Key("severity", "text", "The severity of its records, where none is logged."),
    Key("numbers", "texts", "Groups that go into attrs as numbers."),
    Key("at_least", "texts", "Two groups: the first as a number reaches the second."),
    Key("ids", "text", "Regex with one group: every match is an id."),
    Key("ids_within", "text", "Regex of the parts of the text that hold ids."),
    Key("samples", "examples", "Texts that it must take, and what they give."),
    Key("look_alikes", "examples", "Texts that it must not take, and why."),
)
EXAMPLE: Final = (
    Key("text", "text", "The text of a record.", required=True),
    Key("layer", "text", "The layer of the record."),
    Key("component", "text", "The program that wrote it."),
    Key("kinds", "texts", "All kinds that it gets."),
    Key("expect", "any_table", "What is captured."),
    Key("reason", "text", "Why it is none."),
)
KIND: Final = (
    Key("name", "text", "What events are called.", required=True),
    Key("timing", "text", "What the clock may take from such a record.", TIMINGS),
    Key("title", "text", "What it means.", required=True),
    Key("from", "text", "format: only formats give it."),
)
SIGNATURES_TOP: Final = (
    Key("signature", "signature*", "What a message means."),
    Key("kinds", "kind*", "The kinds, in their order."),
    Key("lead", "texts", "Regexes of what may stand before a statement."),
    Key("unread", "texts", "Regexes of parts of a text that are not read."),
)


def names(keys: Sequence[Key]) -> list[str]:
    """Give the names of keys."""
    return [key.name for key in keys]
