"""A ledger in which one entry of each kind is wrong, and a project that runs out.

A model of 13 billion parameters: s seconds on one GPU with a factor of 1 are 13 s.
The tenant t-sun has the projects p-lab (kim, lee) and p-web (max).

    r0   09:30:00  lee  1 s  200  no entry, and the ledger has not begun: nothing odd
    r1   09:40:00  kim  2 s  200  reserved 30, charged 26, 4 released
    r2   09:45:00  lee  3 s  200  39
    r3   09:50:00  max  1 s  200  13
    r4   10:05:00  kim  2 s  200  260 for 10 GPUs: 234 too much
    r5   10:06:00  kim  4 s  200  52, and 52 again
    r6   10:10:00  lee  1 s  502  13 for nothing
    r7   10:12:00  max  2 s  200  no entry
    r8   10:15:00  lee            13, and no such request
    r9   10:20:00  max  2 s  200  30 instead of 26
    r10  10:22:00  lee  1 s  200  13; 1900 tokens of the answer instead of 475
    r11  10:25:00  kim  2 s  200  26; the access record says 20
         10:29:50  a balance: p-lab has used 0.9991
    r12  10:30:00  kim       429  denied
    r13  10:30:10  lee       429  denied
    r14  10:31:00  max  1 s  200  13
    r15  11:05:00  max  1 s  503  13, each 3 s again, four times; then
         11:05:14  max  2 s  200  26
    r16  11:10:00  lee  1 s  200  no entry, and the ledger is over: nothing odd

Charged at 9, 10 and 11: kim 26, 260 + 2 x 52 + 26 = 390, 0; lee 39, 3 x 13 = 39, 0;
max 13, 30 + 13 = 43, 4 x 13 + 26 = 78; so p-lab 65, 429 and p-web 13, 43, 78, and the
tenant 78, 472, 78, running 78, 550, 628.
Before p-lab was empty: kim 416 for 4 requests, lee 78 for 4, of 494: 0.8421 and 0.1579.
For nothing: max 4 x 13 = 52 and 4 GPU seconds, of 5 requests with 9 attempts, 1.8 each;
lee 13 and 1, of 6 requests.
The pool was empty until lee was served again: 11:10:00 less 1 s.
"""

import json
from pathlib import Path

from tests.figures.day import Day

_PROJECTS = {"kim": "p-lab", "lee": "p-lab", "max": "p-web"}
_HEAD = "ts,entry_id,request_id,user_id,project_id,tenant_id,op,amount,seconds,params_b,gpus,coef,prompt_tokens,completion_tokens,status,reason"


class _Book(Day):
    """A day with a ledger."""

    def entry(self, at: str | float, name: str, user: str, op: str, amount: float, *,
              seconds: float | str = "", gpus: int = 1, tokens: tuple[int, int] = (103, 475),
              status: int | str = "", reason: str = "") -> None:  # fmt: skip
        """Write an entry of the ledger, as a row of CSV."""
        how = f"{seconds},13,{gpus},1.0" if op == "charge" else ",,,"
        row = f"{self.stamp(at)},{len(self.files['quota/ledger.csv'])},{self.rid(name)},u-{user},{_PROJECTS[user]},t-sun,{op},{amount}"
        self.put(
            "quota/ledger.csv",
            at,
            f"{row},{how},{tokens[0]},{tokens[1]},{status},{reason}",
        )

    def paid(self, end: str | float, user: str, took: float, name: str, *amounts: float, status: int = 200,
             gpus: int = 1, said: float | None = None, tokens: tuple[int, int] = (103, 475)) -> None:  # fmt: skip
        """Write an exchange and its charges; `said` is what its access record says."""
        quota = f"{13 * took if said is None else said:.2f}" if status == 200 else ""
        self.exchange(end, took, f"u-{user}", name, status=status, quota=quota)
        for number, amount in enumerate(amounts):
            self.entry(
                self.second(end) + 0.05 + 0.1 * number,
                name,
                user,
                "charge",
                amount,
                seconds=took,
                gpus=gpus,
                tokens=tokens,
                status=status,
            )

    def denied(self, at: str, user: str, name: str) -> None:
        """Write a refusal and the ledger's denial."""
        self.refused(
            at, f"u-{user}", name, 429, "quota insufficient", code="QuotaExceeded"
        )
        self.entry(self.second(at) - 0.005, name, user, "deny", 13.0, reason="empty")


def write(folder: Path) -> Day:
    """Write the day's logs below a folder."""
    day = _Book("2026-05-06")
    day.put("quota/ledger.csv", -1, _HEAD)
    day.paid("09:30:00", "lee", 1.0, "r0")
    day.entry("09:39:58.003", "r1", "kim", "reserve", 30.0)
    day.paid("09:40:00", "kim", 2.0, "r1", 26.0)
    day.entry("09:40:00.060", "r1", "kim", "release", 4.0)
    day.paid("09:45:00", "lee", 3.0, "r2", 39.0)
    day.paid("09:50:00", "max", 1.0, "r3", 13.0)
    day.paid("10:05:00", "kim", 2.0, "r4", 260.0, gpus=10)
    day.paid("10:06:00", "kim", 4.0, "r5", 52.0, 52.0)
    day.paid("10:10:00", "lee", 1.0, "r6", 13.0, status=502)
    day.paid("10:12:00", "max", 2.0, "r7")
    day.entry("10:15:00", "r8", "lee", "charge", 13.0, seconds=1.0)
    day.paid("10:20:00", "max", 2.0, "r9", 30.0, said=30.0)
    day.paid("10:22:00", "lee", 1.0, "r10", 13.0, tokens=(103, 1900))
    day.paid("10:25:00", "kim", 2.0, "r11", 26.0, said=20.0)
    balance = {
        "ts": day.stamp("10:29:50"),
        "user_id": "u-kim",
        "project_id": "p-lab",
        "tenant_id": "t-sun",
        "used_ratio": 0.9991,
        "effective_quota": {"level": "project", "id": "p-lab", "limit": 5000},
        "last_updated": day.stamp("10:29:45"),
    }
    day.put("quota/balance.jsonl", "10:29:50", json.dumps(balance))
    day.denied("10:30:00", "kim", "r12")
    day.denied("10:30:10", "lee", "r13")
    day.paid("10:31:00", "max", 1.0, "r14", 13.0)
    for number in range(4):
        at = day.second("11:05:00") + 3 * number
        day.paid(at, "max", 1.0, "r15", 13.0, status=503)
    day.paid("11:05:14", "max", 2.0, "r15", 26.0)
    day.paid("11:10:00", "lee", 1.0, "r16")
    day.write(folder)
    return day
