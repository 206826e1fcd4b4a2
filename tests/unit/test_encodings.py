"""The encoding of a text is told by its bytes, and costs neither a line nor an offset."""
# ruff: noqa: RUF001 - Chinese has punctuation of its own

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from faultlayer import encodings
from faultlayer.blocks import Block, open_source
from faultlayer.find import find
from faultlayer.lines import lines_of
from faultlayer.stored import Piece

CHINESE = (
    "[ERROR] [2026-11-30 14:20:11,123] harness: 请求失败，模型服务不可用 request_id=r-1\n"
    "[INFO] [2026-11-30 14:20:12,004] harness: 用户“张伟”的配额已用完（项目：测试）\n"
    "plain ASCII\n"
    "[WARN] 重试第２次…\n"
)
Rows = list[tuple[int, int, str, bool]]


def read(
    tmp_path: Path, data: bytes, block_bytes: int = 8 << 20
) -> tuple[Rows, str, list[str]]:
    """Give offset, length, text and damage of each line, the encoding, the problems."""
    file = tmp_path / "x.log"
    file.write_bytes(data)
    (source,) = find([str(file)]).sources
    with open_source(source, block_bytes) as opened:
        frames = [lines_of(block) for block in opened]
    columns = ("byte_offset", "byte_length", "text", "damaged")
    rows = [row for frame in frames for row in frame.select(columns).iter_rows()]
    return rows, opened.encoding, opened.problems


def texts(rows: Rows) -> list[str]:
    """Give the texts."""
    return [text for _, _, text, _ in rows]


@pytest.mark.parametrize("block_bytes", [1, 100, 8 << 20])
class TestWholeFile:
    """A file of one encoding."""

    @pytest.mark.parametrize("encoding", ["gb18030", "gbk", "gb2312"])
    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    @pytest.mark.parametrize("before", ["", "plain ASCII\n" * 200_000])
    def test_chinese(
        self, tmp_path: Path, block_bytes: int, encoding: str, end: str, before: str
    ) -> None:
        """Chinese in a code page of its own is read, with the offsets of the file."""
        if before:
            block_bytes = max(block_bytes, 300_000)  # many small ones take long
        text = before + CHINESE.replace("\n", end)
        lines = text.splitlines(keepends=True)
        rows, found, problems = read(tmp_path, text.encode(encoding), block_bytes)
        assert texts(rows) == text.splitlines()
        assert [length for _, length, _, _ in rows] == [
            len(line.encode(encoding)) for line in lines
        ]
        assert (found, problems) == ("gb18030", [])
        assert not any(damaged for *_, damaged in rows)

    def test_four_bytes(self, tmp_path: Path, block_bytes: int) -> None:
        """Characters beyond GBK are read too."""
        text = CHINESE + "名字：𠮷é🙂\n"
        rows, _, _ = read(tmp_path, text.encode("gb18030"), block_bytes)
        assert texts(rows)[-1] == "名字：𠮷é🙂"

    @pytest.mark.parametrize("order", ["le", "be"])
    @pytest.mark.parametrize("mark", ["\ufeff", ""])
    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    def test_utf16(
        self, tmp_path: Path, block_bytes: int, order: str, mark: str, end: str
    ) -> None:
        """What PowerShell writes is read; offsets are those of the text in UTF-8."""
        text = CHINESE.replace("\n", end) + "🙂 no end"
        encoding = f"utf-16-{order}"
        rows, found, problems = read(
            tmp_path, (mark + text).encode(encoding), block_bytes
        )
        assert texts(rows) == text.splitlines()
        assert (found, problems) == (encoding, [])
        lines = (mark + text).splitlines(keepends=True)
        assert [length for _, length, _, _ in rows] == [
            len(line.encode()) for line in lines
        ]

    def test_torn_utf16(self, tmp_path: Path, block_bytes: int) -> None:
        """Half a character at the end, and half a pair within, are told."""
        data = "ready \n and so on\n".encode("utf-16") + b"\x00\xd8a\x00\n\x00b"
        rows, _, problems = read(tmp_path, data, block_bytes)
        assert texts(rows)[2] == "\ufffda"
        assert problems == ["2 characters are no utf-16-le: shown as \ufffd"]

    @pytest.mark.parametrize(
        "data",
        [
            CHINESE.encode(),
            b"\xef\xbb\xbf" + CHINESE.encode(),
            b"plain ASCII\n" * 1000,
            b"",
            b"\n",
            "naïve café\n".encode() * 50,
        ],
    )
    def test_utf8(self, tmp_path: Path, block_bytes: int, data: bytes) -> None:
        """UTF-8 stays what it is."""
        rows, found, problems = read(tmp_path, data, block_bytes)
        assert texts(rows) == data.decode("utf-8-sig").splitlines()
        assert (found, problems) == ("utf-8", [])
        assert not any(damaged for *_, damaged in rows)


class TestOtherEncodings:
    """What must not be taken for Chinese or UTF-16."""

    @pytest.mark.parametrize(
        "data",
        [
            "résumé naïve café, señor à la carte\n".encode("latin-1") * 20,
            "Привет, мир\n".encode("cp1251") * 20,
            b"\x00" * 5000 + b"\nlast\n",
            b"text\n" + b"\x00" * 4096 + b"\ntext\n",
            b"\x00a" * 3 + b"\n",
            b"\xff\xfeready and plain text behind what looks like a mark\n",
            bytes(range(256)) * 20,
            random.Random(1).randbytes(5000),
        ],
    )
    def test_kept(self, tmp_path: Path, data: bytes) -> None:
        """Bytes that are no text of a known encoding are one sign each, and flagged."""
        rows, found, problems = read(tmp_path, data)
        assert (found, problems) == ("utf-8", [])
        for offset, length, text, damaged in rows:
            line = data[offset : offset + length].removesuffix(b"\n")
            line = line.removesuffix(b"\r")
            if damaged:
                assert len(text.encode()) == len(line)
            else:
                assert text.encode() == line

    @pytest.mark.parametrize("cut", range(1, 40))
    def test_torn_utf8(self, tmp_path: Path, cut: int) -> None:
        """Chinese in UTF-8 that begins or ends within a character is not taken for GBK."""
        whole = "模型服务不可用，请稍后重试".encode()
        for data in (whole[cut:], whole[:-cut], whole[cut:] + b"\n" + whole[:-cut]):
            rows, found, _ = read(tmp_path, data)
            assert found == "utf-8"
            for text in texts(rows):
                assert set(text) <= set("?模型服务不可用，请稍后重试")


class TestMixed:
    """Lines of several encodings in one file."""

    def test_chinese_line(self, tmp_path: Path) -> None:
        """A line of another program is read when it is plainly Chinese, and flagged."""
        lines = [
            "[INFO] 请求完成".encode(),
            "user=张伟 status=429".encode("gbk"),
            b"caf\xe9",
            b"plain",
        ]
        rows, found, _ = read(tmp_path, b"\n".join(lines) + b"\n")
        assert found == "utf-8"
        assert [(text, damaged) for _, _, text, damaged in rows] == [
            ("[INFO] 请求完成", False),
            ("user=张伟 status=429", True),
            ("caf?", True),
            ("plain", False),
        ]

    def test_damage_in_chinese(self, tmp_path: Path) -> None:
        """In a file in GB18030 a bad byte costs its line no more than one sign."""
        lines = CHINESE.encode("gb18030").splitlines()
        lines[1:1] = [b"bad \xff byte", "torn 模型".encode("gb18030")[:-1]]
        rows, found, _ = read(tmp_path, b"\n".join(lines))
        assert found == "gb18030"
        assert [damaged for *_, damaged in rows] == [
            False,
            True,
            True,
            False,
            False,
            False,
        ]
        assert texts(rows)[1] == "bad ? byte"
        assert [texts(rows)[0], *texts(rows)[3:]] == CHINESE.splitlines()

    def test_utf8_in_chinese(self, tmp_path: Path) -> None:
        """Lines in UTF-8 keep their reading in a file in GB18030."""
        data = CHINESE.encode("gb18030") + "模型服务\n".encode()
        rows, _, _ = read(tmp_path, data)
        assert texts(rows) == [*CHINESE.splitlines(), "模型服务"]


def test_pieces() -> None:
    """Wherever pieces end, within characters too, the text is the same."""
    for encoding in ("utf-16-le", "utf-16-be"):
        data = CHINESE.encode(encoding)
        for size in (1, 2, 3, 7, 4096):
            pieces: Iterator[Piece] = (
                data[at : at + size] for at in range(0, len(data), size)
            )
            problems: list[str] = []
            text = encodings.Text(pieces, problems)
            assert b"".join(piece or b"" for piece in text).decode() == CHINESE
            assert (text.encoding, problems) == (encoding, [])


def test_block_of_unknown_encoding() -> None:
    """A block is UTF-8 unless it says otherwise."""
    data = "用户\n".encode("gbk")
    assert lines_of(Block(data, 0, 1, last=True))["damaged"].to_list() == [True]
    told = lines_of(Block(data, 0, 1, last=True, encoding="gb18030"))
    assert told.select("text", "damaged").rows() == [("用户", False)]
