"""Who was in flight when, bursts, tokens by the minute, hops, and ids that do not join.

Limits by the configuration: 4 at once, 6 in 5 s, 3000 tokens a minute.

12:00, seconds in flight, the end not included:
    A kim heron 0-10, B kim heron 2-8, C lee ibis 4-6, D lee ibis 6-9, E max heron 7-7.5,
    F refused at 7.2, G kim heron 50-70.
    C is gone when D begins, so at 6 there are 3, and at 7 the most: A B D E, 4 of 4. kim
    has 2 at once, lee 1, max 1; heron 3, ibis 1. F finds 4 of 4. In the minute of 12:01
    there is G alone.
12:05: bot begins 8 requests each 0.6 s: 8 within 5 s of 12:05:04.2; the last two refused.
12:10: tok's requests end at 12:10:20 (1500 tokens), 12:10:50 (1400), 12:11:10 (1700); at
    12:11:15 one is refused: 1700 in that minute of the clock, 4600 in the last 60 s.
    toc's end at 12:12:05 (2000), 12:12:30 (1200): 3200; at 12:12:40 one is refused.
12:20, hops (connect, header, response in s):
    h1 .1 0.002 - 0.004, .2 1.5 6 12;  h2 .1 0.001 0.5 0.9;
    h3 .1 1.2 - 1.2, .2 - - 0, .3 0.001 0.3 0.4;  h4 .1 0.001 0.01 0.02 : .4 0.002 5.2 5.3;
    h5 .5 1 5 10: at the thresholds, not above them.
    Above 1 s to connect: h1 at .2 1500 ms, h3 at .1 1200. Above 5 s to the first byte: h1
    6000, h4 5200. Above 10 s: h1 12000. .1 was tried 4 times, .2 twice, the others once;
    .1 took 0.004, 0.02, 0.9, 1.2 s: the lower of the two in the middle is 20 ms.
12:30: j1 stands in the edge's log alone, j2 in the engine's alone; j3 comes twice, of one
    user; j4 twice, of two users.
12:40: pat, pim and pat again, all of the project p-x, are refused for their quota, 10 s
    apart, while kim and lee are served between them: 3 of 3, one pool.
Ids: edge 7 + 8 + 7 + 5 + 3 + 5 = 35 with 37 attempts, 1 alone, 2 repeated, 1 of two users;
gateway 34, with 36 of 37 attempts: 0.9730; engine 6 + 6 + 5 + 2 + 2 = 21 and j2 alone, with
23 of 37: 0.6216.
"""

from pathlib import Path

from tests.figures.day import Day

_CONFIG = """server:
  max_concurrent_requests: 4
limits:
  burst_limit: 6
rate_limit: "3000/tokens_per_minute\""""


def _hop(day: Day, at: str, name: str, took: float, *lists: str) -> None:
    """Write an exchange whose access record has lists of upstreams and times."""
    rid = day.rid(name)
    day.app(
        day.second(at) - took,
        "info",
        "request accepted",
        request_id=rid,
        user="u-hop",
        model="heron",
    )
    upstream, connect, header, response = lists
    day.access(at, took, 200, (connect, header, response), rid, upstream=upstream)


def write(folder: Path) -> Day:
    """Write the day's logs below a folder."""
    day = Day("2026-09-08")
    day.put("config/gateway.yaml", 0, _CONFIG)
    for name, user, asked, start, end in (
        ("A", "kim", "heron", 0, 10), ("B", "kim", "heron", 2, 8), ("C", "lee", "ibis", 4, 6),
        ("D", "lee", "ibis", 6, 9), ("E", "max", "heron", 7, 7.5), ("G", "kim", "heron", 50, 70),
    ):  # fmt: skip
        day.exchange(
            day.second("12:00:00") + end, end - start, f"u-{user}", name, asked=asked
        )
    day.refused("12:00:07.210", "u-lee", "F", asked="heron")
    for number in range(8):
        begun, name = day.second("12:05:00") + 0.6 * number, f"b{number}"
        if number < 6:
            day.exchange(begun + 0.1, 0.1, "u-bot", name, asked="heron")
        else:
            day.refused(begun + 0.01, "u-bot", name, asked="heron")
    for at, user, tokens in (
        ("12:10:20", "tok", 1500), ("12:10:50", "tok", 1400), ("12:11:10", "tok", 1700),
        ("12:12:05", "toc", 2000), ("12:12:30", "toc", 1200),
    ):  # fmt: skip
        day.exchange(at, 0.5, f"u-{user}", at, asked="ibis", tokens=(tokens - 100, 100))
    day.refused("12:11:15", "u-tok", "t1", asked="ibis")
    day.refused("12:12:40", "u-toc", "t2", asked="ibis")
    one, two, three, four, five = (f"10.8.0.{number}:80" for number in range(1, 6))
    _hop(
        day,
        "12:20:20",
        "h1",
        12.1,
        f"{one}, {two}",
        "0.002, 1.500",
        "-, 6.000",
        "0.004, 12.000",
    )
    _hop(day, "12:20:30", "h2", 0.91, one, "0.001", "0.500", "0.900")
    _hop(
        day,
        "12:20:40",
        "h3",
        1.61,
        f"{one}, {two}, {three}",
        "1.200, -, 0.001",
        "-, -, 0.300",
        "1.200, 0.000, 0.400",
    )
    _hop(
        day,
        "12:20:50",
        "h4",
        5.33,
        f"{one} : {four}",
        "0.001 : 0.002",
        "0.010 : 5.200",
        "0.020 : 5.300",
    )
    _hop(day, "12:21:00", "h5", 10.0, five, "1.000", "5.000", "10.000")
    day.access("12:30:00", 0.2, 200, ("0.001", "0.100", "0.150"), day.rid("j1"))
    day.engine(
        "engine-a",
        "12:30:05",
        f"[async_llm.py:344] Added request chatcmpl-{day.rid('j2')}.",
    )
    for at, user, name in (
        ("12:30:10", "kim", "j3"), ("12:30:20", "kim", "j3"),
        ("12:30:30", "kim", "j4"), ("12:30:40", "lee", "j4"),
    ):  # fmt: skip
        day.exchange(at, 0.5, f"u-{user}", name, asked="heron")
    for number, user in enumerate(("pat", "pim", "pat")):
        begun = day.second("12:40:00") + 10 * number
        words = {"user_id": f"u-{user}", "project_id": "p-x", "code": "QuotaExceeded"}
        day.refused(
            begun,
            f"u-{user}",
            f"q{number}",
            429,
            "quota insufficient",
            asked="heron",
            **words,
        )
    day.exchange("12:40:05", 0.5, "u-kim", "k1", asked="heron")
    day.exchange("12:40:15", 0.5, "u-lee", "k2", asked="heron")
    day.write(folder)
    return day
