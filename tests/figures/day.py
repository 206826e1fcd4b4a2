"""The logs of an invented day in which every exchange is written into all of its logs."""

import hashlib
import json
import uuid
from datetime import datetime, timedelta
from pathlib import Path

Times = tuple[str, str, str]
NONE: Times = ("-", "-", "-")


class Day:
    """Log files of one day; times are "HH:MM:SS.fff" or seconds since midnight."""

    def __init__(self, day: str) -> None:
        self.midnight = datetime.fromisoformat(day)
        self.files: dict[str, list[tuple[float, int, str]]] = {}

    def second(self, at: str | float) -> float:
        """Give seconds since midnight."""
        if not isinstance(at, str):
            return at
        hours, minutes, seconds = at.split(":")
        return int(hours) * 3600 + int(minutes) * 60 + float(seconds)

    def stamp(self, at: str | float, form: str = "%Y-%m-%dT%H:%M:%S.%fZ") -> str:
        """Spell a time; `%f` is milliseconds, cut off."""
        moment = self.midnight + timedelta(microseconds=round(self.second(at) * 1e6))
        return moment.strftime(form.replace("%f", f"{moment.microsecond // 1000:03d}"))

    def rid(self, name: str) -> str:
        """Give the request id of a request that the working calls `name`."""
        digest = hashlib.sha256(f"{self.midnight} {name}".encode()).digest()
        return str(uuid.UUID(bytes=digest[:16], version=4))

    def put(self, path: str, at: str | float, text: str) -> None:
        """Write a record into a log."""
        lines = self.files.setdefault(path, [])
        lines.append((self.second(at), len(lines), text))

    def app(self, at: str | float, level: str, words: str, **more: object) -> None:
        """Write a record of the gateway's own log."""
        record: dict[str, object] = {"timestamp": self.stamp(at), "level": level}
        record |= {"logger": "gateway.http", "message": words} | more
        self.put("gateway/gateway.jsonl", at, json.dumps(record))

    def access(self, end: str | float, took: float, status: int, times: Times, rid: str, *,
               quota: str = "", path: str = "/v1/chat/completions",
               upstream: str = "10.9.1.11:8000", client: str = "10.9.0.4") -> None:  # fmt: skip
        """Write the access record of an exchange that is over at `end`."""
        connect, header, response = times
        end = self.second(end)
        since = (self.midnight - datetime(1970, 1, 1)).total_seconds()  # noqa: DTZ001
        record = {
            "time_iso8601": self.stamp(end, "%Y-%m-%dT%H:%M:%S+00:00"),
            "msec": f"{since + end:.3f}",
            "remote_addr": client,
            "request": f"POST {path} HTTP/1.1",
            "status": status,
            "body_bytes_sent": 512,
            "request_time": f"{took:.3f}",
            "upstream_addr": upstream if response != "-" else "-",
            "upstream_connect_time": connect,
            "upstream_header_time": header,
            "upstream_response_time": response,
            "http_x_request_id": rid,
            "upstream_http_x_quota_used": quota,
        }
        self.put("edge/access.json", end, json.dumps(record))

    def engine(self, name: str, at: str | float, words: str) -> None:
        """Write a record of an engine."""
        stamp = self.stamp(at, "%m-%d %H:%M:%S")
        self.put(
            f"engines/{name}/vllm.log", at, f"(APIServer pid=7) INFO {stamp} {words}"
        )

    def exchange(self, end: str | float, took: float, user: str, name: str, *,
                 asked: str = "finch-13b", engine: str = "engine-a", status: int = 200,
                 tokens: tuple[int, int] = (103, 475), quota: str = "",
                 path: str = "/v1/chat/completions",
                 upstream: str = "10.9.1.11:8000") -> str:  # fmt: skip
        """Write an exchange that was sent on to an engine, in all logs; gives its id."""
        end = self.second(end)
        start, rid = end - took, self.rid(name)
        self.app(
            start + 0.002,
            "info",
            "request accepted",
            request_id=rid,
            user=user,
            model=asked,
        )
        self.app(start + 0.004, "info", "forward", request_id=rid, engine=engine)
        self.engine(
            engine, start + 0.006, f"[async_llm.py:344] Added request chatcmpl-{rid}."
        )
        if status < 400:
            self.app(
                end - 0.003,
                "info",
                "request completed",
                request_id=rid,
                status=status,
                prompt_tokens=tokens[0],
                completion_tokens=tokens[1],
            )
        times = ("0.001", f"{took - 0.006:.3f}", f"{took - 0.005:.3f}")
        self.access(
            end, took, status, times, rid, quota=quota, path=path, upstream=upstream
        )
        return rid

    def refused(self, at: str | float, user: str, name: str, status: int = 429, words: str = "", *,
                asked: str = "finch-13b", **more: object) -> str:  # fmt: skip
        """Write an exchange that was not sent on; without `words` nobody says why."""
        at, rid = self.second(at), self.rid(name)
        self.app(
            at - 0.008,
            "info",
            "request accepted",
            request_id=rid,
            user=user,
            model=asked,
        )
        if words:
            self.app(
                at - 0.004, "warning", words, request_id=rid, status=status, **more
            )
        self.access(at, 0.010, status, NONE, rid)
        return rid

    def write(self, folder: Path) -> None:
        """Write the logs below a folder, each in the order of time."""
        for path, lines in self.files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("".join(f"{text}\n" for _, _, text in sorted(lines)))
