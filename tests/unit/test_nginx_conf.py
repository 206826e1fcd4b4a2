"""An nginx configuration is read as nginx reads it, as far as logs go."""

import pytest

from faultlayer.dialects import nginx_conf
from faultlayer.dialects.nginx_conf import AccessLog

CONF = r"""
# log_format comment '$status';
user nginx;
http {
    log_format main '$remote_addr - "$request" '   # the rest
                    "$status $body_bytes_sent";
    log_format  js  escape=json
        '{"st":"$status",'
        "\"rq\":\"$request\"}";
    map $http_x $y { default 0; "~^a;b{2}" 1; }
    access_log /var/log/nginx/a.log main buffer=32k flush=5s;
    include /etc/nginx/conf.d/*.conf;
    server {
        access_log off;
        location / { access_log syslog:server=192.0.2.1 js if=$y; return 200 "x;y"; }
        location /b { access_log /var/log/nginx/b.log; }
    }
}
"""
INNER = "log_format inner $status${host}x;\naccess_log logs/c.log inner;\n"


def read(path: str, text: str, others: dict[str, str]) -> nginx_conf.Logging:
    """Read a configuration among other files."""

    def other(pattern: str) -> list[tuple[str, str]]:
        return [(p, t) for p, t in others.items() if nginx_conf.meant(pattern, p)]

    return nginx_conf.read(path, text, other)


def test_formats_and_logs_are_found() -> None:
    """Strings are joined, comments and blocks are no obstacle, includes are followed."""
    found = read(
        "nginx.conf", CONF, {"x/conf.d/gw.conf": INNER, "x/other.conf": "a b;"}
    )
    assert [(one.name, one.escape, one.text, one.line) for one in found.formats] == [
        ("main", "default", '$remote_addr - "$request" $status $body_bytes_sent', 5),
        ("js", "json", '{"st":"$status","rq":"$request"}', 7),
        ("inner", "default", "$status${host}x", 1),
    ]
    assert found.logs == (
        AccessLog("/var/log/nginx/a.log", "main"),
        AccessLog("logs/c.log", "inner"),
        AccessLog("syslog:server=192.0.2.1", "js"),
        AccessLog("/var/log/nginx/b.log", "combined"),
    )


def test_a_file_that_includes_itself_ends() -> None:
    """No file is read within itself."""
    text = "include nginx.conf;\nlog_format a $status-;"
    found = read("nginx.conf", text, {"nginx.conf": text})
    assert [one.name for one in found.formats] == ["a"]


@pytest.mark.parametrize(
    ("pattern", "path", "meant"),
    [
        ("/etc/nginx/conf.d/*.conf", "bundle/nginx/conf.d/gw.conf", True),
        ("conf.d/*.conf", "conf.d/gw.conf", True),
        ("/etc/nginx/conf.d/*.conf", "bundle/sites-enabled/gw.conf", False),
        ("mime.types", "nginx/mime.types", True),
        ("/etc/nginx/mime.types", "elsewhere/mime.types", False),
    ],
)
def test_the_end_of_an_include_counts(pattern: str, path: str, *, meant: bool) -> None:
    """An archive's folders are not those of the machine."""
    assert nginx_conf.meant(pattern, path) == meant


@pytest.mark.parametrize(
    ("value", "text", "escape"),
    [
        ("'$remote_addr \"$request\" it''s $status'", "$remote_addr \"$request\" it's $status", "default"),
        ('"{\\"st\\": \\"$status\\"}"\n  log-format-escape-json: "true"', '{"st": "$status"}', "json"),
    ],
)  # fmt: skip
def test_an_ingress_has_its_format_in_a_config_map(
    value: str, text: str, escape: str
) -> None:
    """`log-format-upstream` of YAML, in either quotes."""
    source = f"kind: ConfigMap\ndata:\n  log-format-upstream: {value}\n"
    [one] = read("config.yaml", source, {}).formats
    assert (one.name, one.text, one.escape, one.line) == (
        "upstreaminfo",
        text,
        escape,
        3,
    )


@pytest.mark.parametrize(
    "text",
    ["log_format", 'log_format a "', "{{{;;;}", "a\\", "include ;", "${", "'", ""],
)
def test_a_torn_configuration_is_no_error(text: str) -> None:
    """What is not there is not found."""
    assert read("nginx.conf", text, {}).formats in {(), *[read("x", text, {}).formats]}
