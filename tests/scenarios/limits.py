"""Refusals for limits and quota: every row of the 429 table, each with its opposite."""

# ruff: noqa: D401  a scenario is told, not ordered

import json

from tests.scenario_builder import Scenario
from tests.scenario_logs import Log


def _ledger(
    log: Log, t: float, event: str, rid: str, user: str, **more: object
) -> None:
    """Write an entry of the quota ledger, with its keys in another order than usual."""
    entry = {
        "event": event,
        "request_id": rid,
        "ts": log.at(t, "%Y-%m-%dT%H:%M:%S.%f+00:00"),
        "amount": 12.0,
        "unit": "gpu_second",
        "tenant": "t-9",
        "project": "p-sea",
        "user": user,
        "seq": 800 + len(log.entries),
    }
    log.put(t, json.dumps(entry | more), event)


def _balance(
    log: Log,
    t: float,
    user: str,
    ratio: float,
    *,
    pool: str = "",
    project: str = "p-sea",
    age: float = 8,
) -> None:
    """Write an answer of the balance endpoint; `pool` is level:id, else the user's own."""
    level, _, name = (pool or f"user:{user}").partition(":")
    answer = {
        "effective_quota": {
            "id": name,
            "level": level,
            "used": round(8000 * ratio, 2),
            "limit": 8000,
        },
        "last_updated": log.at(t - age, "%Y-%m-%dT%H:%M:%SZ"),
        "user_id": user,
        "project_id": project,
        "tenant_id": "t-9",
        "used_ratio": ratio,
        "ts": log.at(t, "%Y-%m-%dT%H:%M:%S.%fZ"),
    }
    log.put(t, json.dumps(answer), "empty" if ratio > 0.99 else "")


def quota_user() -> Scenario:
    """A user's own pool is empty; one of his refusals left no record, and another user is fine."""
    s = Scenario("quota_user", "2026-02-03T04:00:00", id="rid", order="shuffled")
    main, book, answers = (
        s.engine("main"),
        s.log("quota/ledger.jsonl"),
        s.log("quota/balance.jsonl"),
    )
    s.traffic(main, 1, 50, 9)
    _balance(answers, 3, "ivo", 0.9975)
    _balance(answers, 3.2, "ana", 0.41)
    _balance(answers, 33, "ivo", 0.9975)
    for t in (12.0, 21.5):
        rid = s.refused(
            t, 429, "harness.quota", "QuotaExceeded: quota insufficient", user="ivo"
        )
        s.failed(rid, "quota.exceeded", "proven")
    silent = s.refused(30.0, 429, user="ivo")
    _ledger(
        book,
        30.004,
        "deny",
        silent,
        "ivo",
        code="QuotaExceeded",
        message="quota insufficient",
    )
    s.failed(silent, "quota.exceeded", "proven")
    s.condition("quota.exceeded", answers, "empty", "ivo", book.lines("deny"))
    s.never("harness.concurrency_limit", "quota.burst_limit", "quota.token_rate_limit")
    return s


def quota_tenant() -> Scenario:
    """The tenant's pool is empty; the users have plenty, and the gateway says no level."""
    s = Scenario("quota_tenant", "2026-02-04T04:00:00")
    main, book, answers = (
        s.engine("main"),
        s.log("quota/ledger.jsonl", ahead=-1.1),
        s.log("quota/balance.jsonl", ahead=-1.1),
    )
    s.traffic(main, 1, 50, 8)
    _balance(answers, 6, "ivo", 0.9991, pool="tenant:t-9")
    _balance(answers, 6.5, "kim", 0.9991, pool="tenant:t-9", project="p-land")
    for t, user, project in (
        (11.0, "ivo", "p-sea"),
        (17.0, "kim", "p-land"),
        (26.0, "ivo", "p-sea"),
    ):
        rid = s.refused(t, 429, "harness.quota", "quota insufficient", user=user)
        _ledger(
            book, t + 0.006, "deny", rid, user, project=project, code="QuotaExceeded"
        )
        s.failed(rid, "quota.exceeded", "proven")
    s.condition("quota.exceeded", answers, "empty", "t-9", book.lines("deny"))
    s.never("harness.concurrency_limit")
    return s


def quota_not_it() -> Scenario:
    """Used up to 99.7 %, but the answer is an hour old; three fill the limit of three."""
    s = Scenario("quota_not_it", "2026-02-05T04:00:00")
    main, answers = s.engine("main"), s.log("quota/balance.jsonl")
    s.file(
        "config/harness.yaml",
        "server:\n  port: 8080\n  max_concurrent_requests: 3   # was 9\n",
    )
    s.traffic(main, 1, 20, 5)
    _balance(answers, 29.0, "ivo", 0.997, age=3600)
    for t in (30.0, 30.4, 30.9):
        s.served(t, 7.0, engine=main)
    s.failed(
        s.refused(33.0, 429, user="ivo"), "harness.concurrency_limit", "corroborated"
    )
    s.failed(
        s.refused(34.2, 429, user="kim"), "harness.concurrency_limit", "corroborated"
    )
    s.never("quota.exceeded", "quota.burst_limit")
    return s


def burst() -> Scenario:
    """Eight are allowed in five seconds; the last three of eleven are refused, one without a record."""
    s = Scenario("burst", "2026-02-06T04:00:00", order="reversed", gap="   ")
    main, answers = s.engine("main"), s.log("quota/balance.jsonl")
    s.file("config/quota_policy.yaml", "burst_limit: 8\nburst_window_seconds: 5\n")
    s.file("config/harness.yaml", "server:\n  max_concurrent_requests: 40\n")
    _balance(answers, 2, "bot", 0.08)
    s.traffic(main, 1, 20, 5)
    for n in range(8):
        s.served(30 + n * 0.3, 0.35, engine=main, user="bot")
    for n, words in ((8, "burst limit hit"), (9, ""), (10, "burst limit hit")):
        pairs = {"Retry-After:": 60} if words else {}
        rid = s.id()
        s.accept(30 + n * 0.3, rid, "bot")
        if words:
            s.say(
                30 + n * 0.3 + 0.006,
                "INFO",
                "harness.limiter",
                f"{words} window_s=5 burst_limit=8 requests={n + 1} user=bot status=429 Retry-After: 60",
                id=rid,
            )
        s.line(30 + n * 0.3 + 0.009, 0.009, 429, ("-", "-", "-"), rid)
        s.failed(rid, "quota.burst_limit", "proven" if pairs else "corroborated")
    s.served(41.0, 0.5, engine=main, user="bot")
    s.never("harness.concurrency_limit", "quota.exceeded", "quota.request_rate_limit")
    return s


def burst_not_it() -> Scenario:
    """Eleven in five seconds as well, but from three users; four fill the limit of four."""
    s = Scenario("burst_not_it", "2026-02-07T04:00:00")
    main = s.engine("main")
    s.file("config/quota_policy.yaml", "burst_limit: 8\nburst_window_seconds: 5\n")
    s.file("config/harness.yaml", "server:\n  max_concurrent_requests: 4\n")
    s.traffic(main, 1, 20, 5)
    for n in range(4):
        s.served(30 + n * 0.1, 6.5, engine=main, user=f"bot{n % 3}")
    for n in range(4, 11):
        s.failed(
            s.refused(30 + n * 0.3, 429, user=f"bot{n % 3}"),
            "harness.concurrency_limit",
            "corroborated",
        )
    s.never("quota.burst_limit", "quota.exceeded", "harness.edge_limit")
    return s


def token_budget() -> Scenario:
    """6,000 tokens a minute are spent at second 34; the next minute serves again."""
    s = Scenario("token_budget", "2026-02-08T04:00:00")
    book, answers = s.log("quota/ledger.jsonl"), s.log("quota/balance.jsonl")
    s.traffic(s.engine("main"), 1, 2.5, 2)
    s.file(
        "config/quota_policy.yaml",
        '# rate_limit: "90000/tokens_per_minute"\nrate_limit: "6000/tokens_per_minute"\n',
    )
    _balance(answers, 4, "ivo", 0.3)
    for t, prompt, completion in (
        (3.0, 1500, 400),
        (14.0, 1700, 500),
        (31.0, 1400, 530),
        (63.0, 200, 100),
    ):
        rid = s.id()
        s.accept(t, rid, "ivo", "main")
        s.say(
            t + 2.4,
            "INFO",
            "harness.server",
            "request completed",
            id=rid,
            status=200,
            prompt_tokens=prompt,
            completion_tokens=completion,
        )
        s.line(t + 2.41, 2.41, 200, ("0.000", "2.400", "2.405"), rid, size=2222)
        _ledger(book, t + 0.006, "reserve", rid, "ivo")
        _ledger(
            book,
            t + 2.402,
            "charge",
            rid,
            "ivo",
            amount=21.7,
            prompt_tokens=prompt,
            completion_tokens=completion,
        )
        s.fine(rid)
    told = s.refused(
        41.0,
        429,
        "harness.limiter",
        "token rate limit exceeded",
        user="ivo",
        used=6030,
        rate_limit="6000/tokens_per_minute",
    )
    silent = s.refused(52.0, 429, user="ivo")
    s.failed(told, "quota.token_rate_limit", "proven")
    s.failed(silent, "quota.token_rate_limit", "corroborated")
    s.never("quota.exceeded", "quota.burst_limit", "harness.concurrency_limit")
    return s


def request_rate() -> Scenario:
    """A limit of requests per minute of a key, said so in the record."""
    s = Scenario("request_rate", "2026-02-09T04:00:00", id="req_id")
    main = s.engine("main")
    s.traffic(main, 1, 40, 10)
    for t in (12.0, 13.5):
        rid = s.refused(
            t,
            429,
            "harness.limiter",
            "request rate limit exceeded",
            user="ivo",
            limit="30/requests_per_minute",
        )
        s.failed(rid, "quota.request_rate_limit", "proven")
    s.never("quota.burst_limit", "quota.token_rate_limit", "harness.concurrency_limit")
    return s


def edge_limits() -> Scenario:
    """limit_req answers 429 and limit_conn 503; a third refusal of that shape is another client's."""
    s = Scenario("edge_limits", "2026-02-10T04:00:00")
    main = s.engine("main")
    s.traffic(main, 1, 40, 10)
    for t, status, what in (
        (11.0, 429, 'limiting requests, excess: 5.120 by zone "perkey"'),
        (19.0, 503, 'limiting connections by zone "peraddr"'),
    ):
        rid = s.refused(t, status, client="203.0.113.9", accepted=False, took=0.0)
        s.error(t, what, client="203.0.113.9", mark="root")
        s.failed(rid, "harness.edge_limit", "corroborated")
    own = s.refused(
        19.1,
        503,
        "harness.queue",
        "waiting queue overflow",
        queued=32,
        max_size=32,
        client="203.0.113.30",
    )
    s.failed(own, "harness.queue_full", "proven")
    s.condition("harness.edge_limit", s.errors, "root")
    s.never("quota.exceeded", "quota.burst_limit", "harness.plugin_failed")
    return s


def concurrency() -> Scenario:
    """A limit of five: records for two, the count in flight for two, and a far too low count for one."""
    s = Scenario("concurrency", "2026-02-11T04:00:00", order="shuffled")
    main = s.engine("main")
    s.file("config/harness.yaml", "server:\n    max_concurrent_requests: 5\n")
    s.traffic(main, 1, 20, 6)
    for n in range(5):
        s.served(30 + n * 0.2, 6.0 + n / 3, engine=main)
    for t in (31.5, 32.0):
        rid = s.refused(
            t,
            429,
            "harness.limiter",
            "request rejected",
            level="INFO",
            reason="concurrency",
            in_flight=5,
            max_concurrent_requests=5,
        )
        s.failed(rid, "harness.concurrency_limit", "proven")
    for t in (33.0, 34.4):
        s.failed(s.refused(t, 429), "harness.concurrency_limit", "corroborated")
    alone = s.refused(52.0, 429)
    s.served(51.5, 1.0, engine=main)
    s.failed(alone, "undetermined")
    s.never(
        "quota.exceeded",
        "quota.burst_limit",
        "harness.edge_limit",
        "harness.queue_full",
    )
    return s


def concurrency_unknown_limit() -> Scenario:
    """Only the access log was kept: two in flight, nothing tells the limit."""
    s = Scenario("concurrency_unknown_limit", "2026-02-12T04:00:00", access="quoted")
    for t, rt in ((3.0, 1.0), (9.0, 4.0), (9.5, 4.0), (22.0, 1.2)):
        rid = s.id()
        s.line(
            t + rt,
            rt,
            200,
            ("0.001", f"{rt - 0.01:.3f}", f"{rt - 0.008:.3f}"),
            rid,
            size=1400,
        )
        s.fine(rid)
    for t in (11.0, 12.1):
        s.failed(
            s.refused(t, 429, accepted=False), "harness.concurrency_limit", "inferred"
        )
    s.never("quota.exceeded", "harness.edge_limit")
    return s


def upstream_said_429() -> Scenario:
    """Three 429 from behind nginx: the gateway's record explains two, nothing the third."""
    s = Scenario("upstream_said_429", "2026-02-13T04:00:00")
    main = s.engine("main")
    s.traffic(main, 1, 40, 10)
    up = ("0.000", "0.011", "0.011")
    first = s.refused(
        12.0,
        429,
        "harness.quota",
        "QuotaExceeded: quota insufficient",
        user="ivo",
        pool="project:p-sea",
        up=up,
        took=0.013,
    )
    second = s.refused(
        18.0,
        429,
        "harness.limiter",
        "request rejected",
        reason="concurrency",
        in_flight=1,
        max_concurrent_requests=1,
        up=up,
        took=0.013,
    )
    s.failed(first, "quota.exceeded", "proven")
    s.failed(second, "harness.concurrency_limit", "proven")
    third = s.id()
    s.accept(24.0, third, "ivo", "overflow-pool")
    s.line(24.4, 0.4, 429, ("0.012", "0.390", "0.391"), third)
    s.failed(third, "undetermined", missing="overflow-pool")
    return s
