"""A real nginx on the loopback, a backend that misbehaves by path, and a client that notes."""

import http.server
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

BINARY = os.environ.get("FAULTLAYER_NGINX") or shutil.which("nginx")
_SLOW_S = 0.9
_READ_TIMEOUT_MS = 400


@dataclass(frozen=True, slots=True)
class Seen:
    """What the client saw of one exchange; status None: it hung up before an answer."""

    path: str
    request_id: str
    status: int | None
    seconds: float
    ended: float
    body: int


class _Backend(http.server.BaseHTTPRequestHandler):
    """Answers, waits, refuses or closes, as the path says."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer by the first part of the path."""
        what = self.path.split("/")[1].split("?")[0]
        if what in {"slow", "hangup"}:
            time.sleep(_SLOW_S)
        if what == "close":
            self.close_connection = True
            return
        body = b"x" * 40
        self.send_response(503 if what == "busy" else 200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Quota-Used", "0.25")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Nothing: the client hung up on purpose."""


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def configuration(
    folder: Path, formats: Mapping[str, str], port: int, backend: int, refused: int
) -> str:
    """Give an nginx.conf; each format is a directive without its name."""
    directives = "\n".join(
        f"    log_format {name} {text};" for name, text in formats.items()
    )
    logs = "\n".join(
        f"    access_log {folder}/logs/{name}.log {name};" for name in formats
    )
    temp = "\n".join(
        f"    {kind}_temp_path {folder}/temp/{kind};"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;" if os.getuid() == 0 else ""
    return f"""{user}
worker_processes 1;
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/logs/error.log info;
events {{ worker_connections 64; }}
http {{
{temp}
{directives}
{logs}
    limit_req_zone $host zone=burst:1m rate=1r/m;
    upstream retried {{
        server 127.0.0.1:{refused} max_fails=0;
        server 127.0.0.1:{backend} max_fails=0;
    }}
    server {{
        listen 127.0.0.1:{port};
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        proxy_read_timeout {_READ_TIMEOUT_MS}ms;
        location / {{ proxy_pass http://127.0.0.1:{backend}; }}
        location /hangup {{
            proxy_read_timeout 5s;
            proxy_pass http://127.0.0.1:{backend};
        }}
        location /retried {{ proxy_pass http://retried; }}
        location /refused {{ proxy_pass http://127.0.0.1:{refused}; }}
        location /limited {{
            limit_req zone=burst;
            limit_req_status 429;
            proxy_pass http://127.0.0.1:{backend};
        }}
    }}
}}
"""


@contextmanager
def running(folder: Path, formats: Mapping[str, str]) -> Iterator[int]:
    """Run backend and nginx in a folder, and give the port; both end with the block."""
    assert BINARY is not None
    for name in ("logs", "temp", "conf"):
        (folder / name).mkdir(parents=True)
    server = _Server(("127.0.0.1", 0), _Backend)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    port, refused = _free_port(), _free_port()
    text = configuration(folder, formats, port, server.server_port, refused)
    file = folder / "conf" / "nginx.conf"
    file.write_text(text, "utf-8")
    command = [BINARY, "-p", str(folder), "-c", str(file)]
    with (folder / "start.txt").open("wb") as said:
        nginx = subprocess.Popen(
            [*command, "-e", str(folder / "logs" / "error.log")],
            stdout=said,
            stderr=said,
        )
    try:
        _wait(port, nginx, folder)
        yield port
    finally:
        nginx.send_signal(3)  # SIGQUIT: what is under way is ended and logged
        try:
            nginx.wait(10)
        except subprocess.TimeoutExpired:
            nginx.kill()
            nginx.wait()
        server.shutdown()
        server.server_close()


def _wait(port: int, nginx: "subprocess.Popen[bytes]", folder: Path) -> None:
    for _ in range(100):
        if nginx.poll() is not None:
            break
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError(f"nginx did not start: {(folder / 'start.txt').read_text()}")


def exchange(
    port: int, path: str, request_id: str, *, patience: float | None = None
) -> Seen:
    """Send one request and note what comes back; `patience`: seconds until hanging up."""
    begun = time.time()
    with socket.create_connection(("127.0.0.1", port), timeout=patience or 10) as one:
        one.sendall(
            f"GET {path} HTTP/1.1\r\nHost: llm.example\r\nConnection: close\r\n"
            f"X-Request-ID: {request_id}\r\nUser-Agent: probe/1.0\r\n\r\n".encode()
        )
        data = b""
        try:
            while part := one.recv(65536):
                data += part
        except TimeoutError:
            pass
    ended = time.time()
    head, _, body = data.partition(b"\r\n\r\n")
    status = int(head.split()[1]) if head else None
    return Seen(path, request_id, status, ended - begun, ended, len(body))


def traffic(port: int) -> list[Seen]:
    """Send requests of every fate; at most a few seconds, and no more than these."""
    plan = [
        "/ok", "/busy", "/retried", "/refused", "/close", "/slow", "/missing/ok",
        "/limited", "/limited", "/hangup", "/ok", "/retried",
    ]  # fmt: skip
    seen = []
    for number, path in enumerate(plan):
        one = f"{path}?n={number}"
        request_id = f"0f8e5a1c-{number:04d}-4b6d-9c31-5d2e7a904c11"
        patience = 0.2 if path == "/hangup" else None
        seen.append(exchange(port, one, request_id, patience=patience))
    time.sleep(_SLOW_S)
    return seen
