"""Rotated files are one log in the order of time, and paths name who wrote them."""

import gzip
from pathlib import Path

import pytest

from faultlayer.find import Source, find

CRI = b"2026-11-30T14:20:11.123456789Z stdout F ready\n"


def sources(folder: Path, *names: str, data: bytes = b"line\n") -> list[Source]:
    """Write files of the same content and find them in their folder."""
    for name in names:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
    return find([str(folder)]).sources


class TestRotation:
    """One rotated set is one log, the oldest file first."""

    @pytest.mark.parametrize(
        ("set_name", "files"),
        [
            (
                "access.log",
                ["access.log.10.gz", "access.log.2.gz", "access.log.1", "access.log"],
            ),
            ("ledger.jsonl", ["ledger.jsonl.1.gz", "ledger.jsonl"]),
            ("syslog", ["syslog.2.gz", "syslog.1", "syslog"]),
            ("syslog", ["syslog.2.gz", "syslog.1"]),
            ("engine", ["engine.1", "engine"]),
            ("app.log", ["app.log.old", "app.log"]),
            ("access.log", ["access.log.gz", "access.log"]),
            (
                "access.log",
                ["access.log-20261129.gz", "access.log-20261130", "access.log"],
            ),
            (
                "access.log",
                [
                    "access.log-20261130-1796000000.gz",
                    "access.log-20261130-1796003600",
                    "access.log",
                ],
            ),
            (
                "0.log",
                ["0.log.20261130-144929.gz", "0.log.20261130-145204.gz", "0.log"],
            ),
            (
                "app.log",
                [
                    "app.log.2026-11-29_23",
                    "app.log.2026-11-30_05",
                    "app.log.2026-11-30_14-00-01",
                    "app.log",
                ],
            ),
            (
                "app.log",
                ["app.log.2026-11-30.1.gz", "app.log.2026-11-30.2.gz", "app.log"],
            ),
            (
                "app.log",
                ["app.2026-11-30.9.log.gz", "app.2026-11-30.10.log.gz", "app.log"],
            ),
            ("oneapi.log", ["oneapi-20261129.log", "oneapi-20261130132237.log"]),
            ("out.log", ["out__2026-11-30_00-00-00.log", "out.log"]),
            ("x.log", ["x-2026-11-30T14-49-29.123.log.gz", "x.log"]),
            ("x.log", ["x.log-20261130.gz", "x.log.1", "x.log"]),
            ("3b7e-json.log", ["3b7e-json.log.1.gz", "3b7e-json.log"]),
            ("model.log", ["model-part1.log", "model-part2.log", "model-part10.log"]),
            ("app.log", ["app.log.part-001", "app.log.part-002.gz"]),
            ("app.log", ["app.log.aa", "app.log.ab.gz", "app.log.ba"]),
            ("app.log", ["app.log.part-aa", "app.log.part-ab"]),
        ],
    )
    def test_order(self, tmp_path: Path, set_name: str, files: list[str]) -> None:
        """Numbers count down, dates count up, the live file is last."""
        found = sources(tmp_path / "x", *files)
        assert [source.path for source in found] == [f"x/{name}" for name in files]
        assert {source.set_name for source in found} == {f"x/{set_name}"}

    @pytest.mark.parametrize(
        "files",
        [
            ["engine.0", "engine.1"],
            ["engine-0.log", "engine-1.log"],
            ["app-1.log", "app-20260230.log"],
            ["a/x.log", "b/x.log.1"],
            ["0.log", "1.log"],
            ["model-8080.log", "model-8081.log"],
            ["v1.2.3", "v1.2.4"],
            ["app.log.de", "app.log.fr"],
            ["smart-party.log", "smart-partly.log"],
        ],
    )
    def test_no_set(self, tmp_path: Path, files: list[str]) -> None:
        """What merely looks like it, or stands in another folder, is its own log."""
        found = sources(tmp_path, *files)
        assert len({source.set_name for source in found}) == len(files)

    @pytest.mark.parametrize(
        ("folder", "data"),
        [
            ("pods/ai_vllm-0_6e1f0c52-3a0b-4f0e-9d55-0c9a7d1b2f42/vllm", b"x\n"),
            ("vllm", CRI),
            ("vllm", b'{"log":"ready\\n","stream":"stdout"}\n'),
        ],
    )
    def test_restarts(self, tmp_path: Path, folder: str, data: bytes) -> None:
        """Numbers that kubelet gives are restarts: each with its rotations, in order."""
        names = [
            "0.log.20261130-144929.gz",
            "0.log",
            "1.log",
            "2.log.20261130-150000",
            "2.log",
            "10.log",
        ]
        found = sources(
            tmp_path / "x", *(f"{folder}/{name}" for name in names), data=data
        )
        assert [source.path for source in found] == [
            f"x/{folder}/{name}" for name in names
        ]
        assert {source.set_name for source in found} == {f"x/{folder}/*.log"}


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("model/engine-0/model.log", "engine-0"),
        ("model/engine-0/logs/model.log", "engine-0"),
        ("model/model.log", "model"),
        ("model/engine-1.log", "engine-1"),
        ("nginx-b/harness_access.log.1", "nginx-b"),
        ("gateway-a/nginx/access.log", "gateway-a"),
        ("2026-11-30/nginx/access.log", "nginx"),
        ("harness.log", "harness"),
        ("one-api/oneapi-20261116.log", "one-api"),
        ("filebeat/harness-gateway-b.ndjson", "harness-gateway-b"),
        ("docker/quota/77aa01-json.log", "quota"),
        ("docker/3b7e55d0c1aa0f3b7e55-json.log", "3b7e55d0c1aa"),
        ("pods/ai-prod_vllm-0_6e1f0c52-3a0b/vllm/0.log", "vllm-0"),
        ("containers/vllm-0_ai-prod_vllm-3b7e55d0c1aa0f3b.log", "vllm-0"),
        ("harness_access_logs/x.log", "harness_access_logs"),
        ("10.0.0.5/syslog/kern.log", "10.0.0.5"),
    ],
)
def test_label(tmp_path: Path, path: str, label: str) -> None:
    """The label is what the path says about the instance."""
    (source,) = sources(tmp_path / "logs-7", path)
    assert source.label == label


def test_label_of_several_roots(tmp_path: Path) -> None:
    """Several folders name what is in them; a single one is common to all."""
    sources(tmp_path, "gateway-a/x.log", "gateway-b/x.log")
    found = find([str(tmp_path / "gateway-a"), str(tmp_path / "gateway-b")])
    assert [source.label for source in found.sources] == ["gateway-a", "gateway-b"]
    (source,) = find([str(tmp_path / "gateway-a")]).sources
    assert source.label == "x"
