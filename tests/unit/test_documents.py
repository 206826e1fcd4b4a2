"""A document's records are found wherever its lines end, and its bytes add up."""

import json
import struct

import pytest

from faultlayer import documents
from faultlayer.documents import Document

LISTS = (("events",), ("logEvents",), ("data", "result", "values"))


def texts(data: bytes) -> list[tuple[int, int, str]]:
    """Give line, lines and text of each record; the accounts must hold."""
    [document, *_] = documents.of(data, LISTS)
    rows = documents.rows(data, document)
    lines = data.count(b"\n") + (not data.endswith(b"\n"))
    assert rows.get_column("byte_length").sum() == len(data)
    assert rows.get_column("lines").sum() == lines
    assert rows.get_column("line").to_list() == list(range(1, len(rows) + 1))
    return rows.select("at", "lines", "text").rows()


@pytest.mark.parametrize(
    "data",
    [
        b"[INFO] started\n",
        b'{"a": 1}\n{"a": 2}\n',
        b'{"events": []}\n',
        b"KEY=value\nOTHER=value\n",
        b"",
        b"{not json\n",
    ],
)
def test_lines_are_no_document(data: bytes) -> None:
    """Objects a line, an empty answer, settings: all are read line by line."""
    assert list(documents.of(data, LISTS)) == []


def test_a_list_gives_its_records_with_what_is_around() -> None:
    """What stands beside the list belongs to each record, before or after it."""
    data = b'{"a": 1, "events": [{"m": "x\\ny"}, {"m": "\xc3\xa9"}], "b": [2]}'
    assert texts(data) == [
        (1, 0, '{"of":{"a": 1,"b": [2]},"item":{"m": "x\\ny"}}'),
        (1, 1, '{"of":{"a": 1,"b": [2]},"item":{"m": "é"}}'),
    ]


def test_a_text_of_several_lines_is_a_list_of_them() -> None:
    """As an API gives a log: in one object. Of several objects each is one record."""
    data = b'{"pod": "v-0", "log": "a \\\\n \\"b\\"\\n\\n  c\\n"}\n'
    of = '{"of":{"pod": "v-0"},"item":'
    assert texts(data) == [
        (1, 0, f'{of}"a \\\\n \\"b\\""}}'),
        (1, 1, f'{of}"  c"}}'),
    ]
    assert list(documents.of(data * 2, LISTS)) == []
    assert list(documents.of(b'{"log": "a\\n"}', LISTS)) == []
    [pretty, *_] = documents.of(b'{\n "events": "a\\nb",\n "log": {}\n}\n', LISTS)
    assert pretty.texts


def test_lists_within_lists() -> None:
    """Each stream of an answer has its own labels."""
    result = [
        {"stream": {"pod": "a"}, "values": [["1", "x"]]},
        {"values": [["2", "y"], ["3", "z"]], "stream": {"pod": "b"}},
    ]
    data = json.dumps({"status": "success", "data": {"result": result}}).encode()
    items = [json.loads(text) for _, _, text in texts(data)]
    assert [(one["of"]["stream"]["pod"], one["item"][1]) for one in items] == [
        ("a", "x"),
        ("b", "y"),
        ("b", "z"),
    ]


def test_objects_over_several_lines() -> None:
    """Each begins at a physical line of its own, and is one line of text."""
    data = b'{\n  "a": "x"\n}\n\n{\n  "a": "y"\n}\n'
    assert texts(data) == [(1, 4, '{   "a": "x" }'), (5, 3, '{   "a": "y" }')]


def test_a_torn_document_keeps_what_is_whole() -> None:
    """The download ended within a record: what is left of it is one, too."""
    data = b'{"events": [\n{"m": 1},\n{"m": 2},\n{"m": '
    found = texts(data)
    assert [text for _, _, text in found] == [
        '{"of":{},"item":{"m": 1}}',
        '{"of":{},"item":{"m": 2}}',
        '{"m":',
    ]


def test_a_broken_record_does_not_spoil_the_next() -> None:
    """It is given up at the end of its line."""
    data = b'{"events": [\n{"m": 1},\n{"m": oops},\n{"m": 3}\n]}\n'
    found = [text for _, _, text in texts(data)]
    assert found == [
        '{"of":{},"item":{"m": 1}}',
        '{"m": oops},',
        '{"of":{},"item":{"m": 3}}',
    ]


def test_an_export_is_read_by_its_lengths() -> None:
    """A message may hold line ends and its length may look like one: ten is a newline."""
    message = b"0123\n\n6789"
    assert struct.pack("<Q", len(message))[:1] == b"\n"
    data = (
        b"__REALTIME_TIMESTAMP=1796016398269794\nMESSAGE\n"
        + struct.pack("<Q", len(message))
        + message
        + b"\n_PID=1\n\n__REALTIME_TIMESTAMP=1796016398269795\nMESSAGE=b\nA=1\nA=2\n"
    )
    found = texts(data)
    assert [(line, lines) for line, lines, _ in found] == [(1, 8), (9, 4)]
    first, second = (json.loads(text) for _, _, text in found)
    assert first == {
        "__REALTIME_TIMESTAMP": "1796016398269794",
        "MESSAGE": "0123\n\n6789",
        "_PID": "1",
    }
    assert second["A"] == ["1", "2"]


def test_the_beginning_of_a_document_leaves_out_what_is_cut() -> None:
    """Only whole records tell what wrote it."""
    data = b'{"events": [{"m": 1}, {"m": 2}, {"m": "thr'
    rows = documents.rows(data, Document("json", LISTS), whole=False)
    assert len(rows) == 2


def test_a_verbose_journal_is_read_by_its_cursors() -> None:
    """The cursor has the moment; fields go on where they are indented as far."""
    data = (
        b"-- Boot 9cba12 --\n"
        b"Mon 2026-11-30 13:26:38.269794 CST [s=2f;i=5b;b=9c;m=77;t=6616e2e3c53e2;x=a1]\n"
        b"    PRIORITY=3\n"
        b"    MESSAGE=first\n"
        b"            A=second\n"
        b"    _PID=812\n"
        b"Mon 2026-11-30 13:26:39.269794 CST [s=2f;i=5c;b=9c;m=78;t=6616e2e4b9622;x=a2]\n"
        b"    MESSAGE=third\n"
        b"    PRIORITY=6\n"
    )
    found = texts(data)
    assert [at for at, _, _ in found] == [1, 2, 7]
    assert found[0][2] == "-- Boot 9cba12 --"
    assert json.loads(found[1][2]) == {
        "__REALTIME_TIMESTAMP": str(0x6616E2E3C53E2),
        "PRIORITY": "3",
        "MESSAGE": "first\nA=second",
        "_PID": "812",
    }
    assert json.loads(found[2][2])["MESSAGE"] == "third"


def test_files_that_tail_shows_are_told_apart() -> None:
    """Each line has the name above it; the headers say nothing by themselves."""
    data = b'$ tail a b\n==> a <==\nx "1"\r\n\n==> b\xc3\xa9 <==\ny\n==> a <==\n z'
    found = [text for _, _, text in texts(data)]
    inside = [json.loads(text) for text in found[2:] if text]
    assert found[:2] == ["$ tail a b", ""]
    assert [(one["_tail"], one["line"]) for one in inside] == [
        ("a", 'x "1"'),
        ("b\u00e9", "y"),
        ("a", " z"),
    ]
    assert list(documents.of(b"a ==> b <==\n==> a\nx\n", LISTS)) == []


def test_lines_that_a_terminal_wrapped_are_joined() -> None:
    """What ends at the edge goes on, unless the next line looks like the first of one."""
    lines = [
        *(f"10.0.3.{at} - - [30/Nov/2026] {'x' * (at * 17)}" for at in range(1, 9)),
        "10.0.3.9 - - " + "y" * (160 - 13),  # ends at the edge
        "10.0.3.10 - - z",
    ]
    shown = [line[at : at + 80] for line in lines for at in range(0, len(line), 80)]
    data = "\r\n".join([*shown, ""]).encode()
    [document] = documents.of(data, LISTS)
    assert document == Document(documents.WRAPPED, width=80)
    assert [text for _, _, text in texts(data)] == lines
    assert list(documents.of(data + b"w" * 81 + b"\n", LISTS)) == []


def test_rows_that_are_all_as_wide_are_no_wrapped_line() -> None:
    """A ledger's rows may all be of one length; the first line says what they are."""
    rows = [f"2026-11-30T05:{at}:00.000Z,charge,{at:040d},u1,p1,t1" for at in range(9)]
    rows = [row.ljust(90, "0") for row in rows]
    lines = ["ts,op,request_id,user_id,project_id,tenant_id", *rows]
    assert [text for _, _, text in texts("\n".join([*lines, ""]).encode())] == lines


def test_a_page_is_read_as_it_was_shown() -> None:
    """Tags go, and what is escaped has its own letters; text with quotes is no page."""
    data = (
        b'<pre class="log">\n<span style="a">1</span> &quot;GET /?a=1&amp;lt;b&quot; &#39;x&#x27;\n'
        b"2 &lt;none&gt;\n</pre>\n"
    )
    shown = [text for _, _, text in texts(data)]
    assert shown == ["", "1 \"GET /?a=1&lt;b\" 'x'", "2 <none>", ""]
    assert list(documents.of(data.replace(b"2 ", b'2 "'), LISTS)) == []


def test_what_an_editor_made_of_quotes_and_line_ends() -> None:
    """Quotes and spaces are a program's again, and a carriage return ends a line."""
    typeset = (
        "a\u00a0\u201cGET /\u201d \u2013 \u2018x\u2019\nb \u201cc\u201d\n".encode()
    )
    assert [text for _, _, text in texts(typeset)] == ["a \"GET /\" - 'x'", 'b "c"']
    assert texts(b"\r\ra\rb\rc\rd\r\ne") == [
        *[(1, 0, text) for text in ("", "", "a", "b", "c", "d")],
        (1, 1, ""),
        (2, 1, "e"),
    ]
    assert list(documents.of("\u201ca\u201d\nb\nc\nd\ne\n".encode(), LISTS)) == []
    assert list(documents.of(b"0%\r5%\r9%\rdone\n", LISTS)) == []


def test_lists_of_texts_and_tables_of_semicolons() -> None:
    """A list may hold the lines themselves, a table what a spreadsheet puts between."""
    assert texts(b'{"pod": 1, "events": ["a \\"b\\"", "c"]}') == [
        (1, 0, '{"of":{"pod": 1},"item":"a \\"b\\""}'),
        (1, 1, '{"of":{"pod": 1},"item":"c"}'),
    ]
    for mark in (b";", b"\t", b","):
        data = b'time%bmessage\n1%b"a%bb"\n' % (mark, mark, mark)
        [row] = texts(data)
        assert json.loads(row[2])["message"] == f"a{mark.decode()}b"
