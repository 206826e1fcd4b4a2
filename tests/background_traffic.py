"""Ten times the traffic beside a scenario: other users, other clients, an engine that lives."""

import random

from tests.scenario_builder import Scenario

#: How many further requests come to one of the scenario's own.
TIMES = 10


def crowd(scenario: Scenario) -> None:
    """Add served requests that have nothing to do with what the scenario tells."""
    times = [t for t, *_ in scenario.access.entries]
    first, last = min(times), max(times)
    dice = random.Random(f"{scenario.name} crowd")
    bystander = scenario.engine("bystander")
    truth = list(scenario.truth)
    for number in range(TIMES * len(times)):
        scenario.served(
            first + dice.random() * (last - first),
            0.05 + 0.1 * dice.random(),
            engine=bystander,
            user=f"crowd-{number % 31}",
            client=f"203.0.113.{number % 200}",
        )
    scenario.truth = truth
