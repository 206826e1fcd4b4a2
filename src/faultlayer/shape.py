"""What a format file says, in types: fields, stamps, patterns, samples."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from faultlayer.compile import JsonShape, Plan
from faultlayer.literals import Hint
from faultlayer.tables import Table


@dataclass(frozen=True, slots=True)
class Field:
    """Where a value comes from: the first source that says something, times `scale`."""

    sources: tuple[str, ...]
    scale: float = 1.0
    kind: str = ""  # how an attribute is brought to one form, one of `KINDS`
    values: Mapping[str, str] | None = None
    join: str | None = None  # all sources with this between, instead of the first
    along: bool = False  # of a reason: only where another field says something
    chars: int = 0  # of the value only the first, 0: all

    @property
    def factor(self) -> float:
        """Give what a number is multiplied by."""
        return 1.0 if self.kind == "duration" else self.scale

    @property
    def bare_ms(self) -> float | None:
        """Give the ms of a duration without a unit, None where it is none."""
        return None if self.scale == 1 else self.scale


@dataclass(frozen=True, slots=True)
class Stamp:
    """A field that holds the time and the spellings that it may have.

    `start`: it is stamped when the exchange begins, and its duration leads to the end.
    `utc`: it is UTC where it names no zone.
    """

    field: str
    formats: tuple[str, ...]
    start: bool = False
    utc: bool = False


@dataclass(frozen=True, slots=True)
class Upstream:
    """Fields of upstream times, by preference; empty where there is none.

    `peer` says who was tried, `answered` what they answered; `scale` brings the times to milliseconds.
    """

    connect: tuple[str, ...]
    header: tuple[str, ...]
    response: tuple[str, ...]
    peer: tuple[str, ...] = ()
    answered: tuple[str, ...] = ()
    scale: float = 1000.0


#: What an extract looks into that needs more than the first line: all of the record.
RECORD: Final = "_record"


@dataclass(frozen=True, eq=False)  # no slots: what was made is kept in `__dict__`
class Extract:
    """A second look into a field, or all of the record: groups fill null columns."""

    source: str
    names: tuple[str, ...]
    make: Callable[[], Plan]

    @cached_property
    def plan(self) -> Plan:
        """The compiled regex, made when it is first needed."""
        return self.make()


@dataclass(frozen=True, eq=False)
class Pattern:
    """One line shape of a format; `names` are the fields that it captures.

    `pieces`: what the file says of a line from left to right, each with its regex; none
    for lines of `json`.
    `weak`: such a line only begins a record where it cannot go on with one.
    `single`: never followed by lines of the same record.
    `shared`: says nothing about which program wrote the file.
    `more`: never begins a record; tells whose record it goes on with.
    `rest`: takes what the others of its format leave, however much that is.
    `until`: what the line looks like that ends its record.
    `programs`: only for what the wrapper says these programs wrote, `*`: any program.
    """

    name: str
    names: tuple[str, ...]
    make: Callable[[], tuple[Plan, ...]]
    hinted: Callable[[], Hint]
    pieces: Callable[[], Sequence[tuple[str, str]]]
    json: JsonShape | None
    kind: str | None
    fixed: Mapping[str, str]
    weak: bool
    single: bool
    shared: bool
    more: bool
    rest: bool
    programs: tuple[str, ...] = ()
    until: str = ""

    @property
    def telling(self) -> bool:
        """Whether a line of any file that it takes shows which program wrote it."""
        return not (self.weak or self.shared or self.more or self.programs)

    @cached_property
    def plans(self) -> tuple[Plan, ...]:
        """The plans that take its lines, fastest first, made when first needed."""
        return self.make()

    @cached_property
    def hint(self) -> Hint:
        """What can be told of its lines without any plan."""
        return self.hinted()


@dataclass(frozen=True, slots=True)
class Sample:
    """A record and the event that it has to become; `header` is that of its table."""

    line: str
    expect: Mapping[str, Any]
    pattern: str | None
    at: int
    header: str = ""
    number: int = 0  # which of the file's samples or look-alikes, from 0


@dataclass(frozen=True, slots=True)
class Format:
    """One format file, compiled."""

    name: str
    layer: str
    component: str
    title: str
    misses: str
    framing: str
    weak: bool
    shares: tuple[str, ...]
    patterns: tuple[Pattern, ...]
    stamps: tuple[Stamp, ...]
    fields: Mapping[str, Field]
    attrs: Mapping[str, Field]
    raw_json: frozenset[str]
    drop: frozenset[str]
    upstream: Upstream | None
    reason: Mapping[str, Field]
    extracts: tuple[Extract, ...]
    pairs: str | None
    engine_ids: bool
    escapes: bool
    samples: tuple[Sample, ...]
    rejects: tuple[Sample, ...]
    path: str
    text: str
    table: Table | None = None
    given: bool = False  # somebody's own, for these logs: tried before all others
    structured: bool = False
    general: int = 0  # the higher, the later it is tried
    companion: bool = False  # no file is its own where another program writes to it

    @property
    def first(self) -> bool:
        """Whether it is tried before all others: given by hand, or for one program."""
        return self.given and not (self.general and not self.text)
