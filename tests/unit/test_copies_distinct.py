"""What merely looks alike is no copy, and keeps its records."""

from pathlib import Path

from tests.unit.copied import kept, line, lines


class TestDistinct:
    """What must not be taken for a copy."""

    def test_other_instances(self, tmp_path: Path) -> None:
        """Two instances may write the same, unless it is about the same requests."""
        same = lines(0, 30, "started", request=None)
        assert kept(tmp_path / "a", {"gw-0/x.log": same, "gw-1/x.log": same}) == {
            "logs/gw-0/x.log": 30,
            "logs/gw-1/x.log": 30,
        }
        ids = lines(0, 30)
        assert kept(tmp_path / "b", {"gw-0/x.log": ids, "gw-1/x.log": ids}) == {
            "logs/gw-0/x.log": 30,
            "logs/gw-1/x.log": 0,
        }

    def test_constant_id(self, tmp_path: Path) -> None:
        """An id that every probe bears says nothing."""
        same = "".join(
            line(second).replace(f"r-{second:05d}", "health") for second in range(30)
        )
        assert kept(tmp_path, {"gw-0/x.log": same, "gw-1/x.log": same}) == {
            "logs/gw-0/x.log": 30,
            "logs/gw-1/x.log": 30,
        }

    def test_instances_that_start_alike(self, tmp_path: Path) -> None:
        """Few words that several instances say at their start are no copy."""
        few = lines(0, 2, "started", request=None)
        for number, name in enumerate(["app.log.1", "app-copy.log", "app-2.log"]):
            files = {"app.log": few, name: few}
            assert set(kept(tmp_path / str(number), files).values()) == {2}
        many = lines(0, 30, "started", request=None)
        files = {"app.log": many, "app-2.log": many, "app.log.1": many}
        assert kept(tmp_path / "many", files) == {
            "logs/app-2.log": 30,
            "logs/app.log": 30,
            "logs/app.log.1": 0,
        }

    def test_two_hops(self, tmp_path: Path) -> None:
        """Two proxies in a row log the same requests, in lines of one length."""

        def hop(client: str, took: str) -> str:
            return "".join(
                f"{client} - - [30/Nov/2026:05:{second // 60:02d}:{second % 60:02d}"
                ' +0000] "POST /v1/chat/completions HTTP/1.1" 200 512 "-" "curl/8.5.0"'
                f' rt={took} uct="0.001" uht="0.002" urt="{took}"'
                f" req_id=r-{second:05d}-aaaa quota_used=0.42\n"
                for second in range(30)
            )

        same = hop("10.20.0.7", "0.512")
        for other in (hop("10.20.0.9", "0.512"), hop("10.20.0.7", "0.511")):
            folder = tmp_path / str(hash(other))
            files = {"edge/access.log": same, "inner/access.log": other}
            assert set(kept(folder, files).values()) == {30}
        assert kept(tmp_path / "c", {"a/x.log": same, "b/x.log": same}) == {
            "logs/a/x.log": 30,
            "logs/b/x.log": 0,
        }

    def test_equal_lengths(self, tmp_path: Path) -> None:
        """Two logs that read alike, in lines of one length, differ in their bytes."""

        def log(between: str) -> str:
            return lines(0, 30).replace("harness.server: ", between)

        plain, other = log("harness.server: "), log("harness.server:\t")
        assert kept(tmp_path / "a", {"a/x.log": plain, "b/x.log": other}) == {
            "logs/a/x.log": 30,
            "logs/b/x.log": 30,
        }
        # One byte, in a line that is blank but for it.
        texts = [lines(0, 20) + f"{blank}\n" + lines(20, 40) for blank in " \t"]
        files = {"app.log": texts[0], "app.log.1": texts[1], "x/app.log": texts[0]}
        assert kept(tmp_path / "b", files) == {
            "logs/app.log": 40,
            "logs/app.log.1": 40,
            "logs/x/app.log": 0,
        }

    def test_lines_that_a_file_repeats(self, tmp_path: Path) -> None:
        """Equal lines of one file stay, in as many records as it has of them."""
        probe = line(7, "probe", request=None) * 40
        text = lines(0, 7) + probe + lines(8, 12)
        assert kept(tmp_path / "a", {"app.log": text}) == {"logs/app.log": 51}
        assert kept(tmp_path / "b", {"app.log": text, "app.log.1": text}) == {
            "logs/app.log": 51,
            "logs/app.log.1": 0,
        }
        assert kept(tmp_path / "c", {"app.log": probe, "app.log.1": probe}) == {
            "logs/app.log": 40,
            "logs/app.log.1": 40,
        }

    def test_other_times(self, tmp_path: Path) -> None:
        """Lines that differ in nothing but their seconds are others."""
        first = lines(0, 20, "probe", request=None)
        second = line(0, "probe", request=None) + lines(2, 21, "probe", request=None)
        assert set(
            kept(tmp_path, {"app.log": first, "app.log.1": second}).values()
        ) == {20}

    def test_another_end(self, tmp_path: Path) -> None:
        """A last record that the longer file does not begin with stays."""
        whole = {"app.log": lines(0, 40)}
        torn = lines(0, 29) + line(29)[:-20]
        other = lines(0, 29) + line(29).replace("accepted", "refused")
        assert kept(tmp_path / "a", {**whole, "app.log.1": torn})["logs/app.log.1"] == 0
        assert kept(tmp_path / "b", {**whole, "app.log.1": other}) == {
            "logs/app.log": 40,
            "logs/app.log.1": 1,
        }

    def test_one_difference(self, tmp_path: Path) -> None:
        """A file that differs in one record within is no copy."""
        changed = lines(0, 20) + line(20, "other") + lines(21, 40)
        assert kept(tmp_path, {"app.log.1": lines(0, 40), "app.log": changed}) == {
            "logs/app.log.1": 40,
            "logs/app.log": 40,
        }

    def test_without_stamps(self, tmp_path: Path) -> None:
        """Equal configurations of two hosts are two configurations."""
        text = "server:\n  max_concurrent_requests: 4\n"
        found = kept(tmp_path, {"a/harness.yaml": text, "b/harness.yaml": text})
        assert set(found.values()) == {2}
