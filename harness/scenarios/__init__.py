"""Scenarios: what happens in a conversation, told once for all surfaces.

One YAML file each, `ID.yaml`, beside this module. Importing the package reads no YAML, and does
not import a YAML parser: that happens when a scenario is first loaded.
"""

from harness.scenarios.errors import ScenarioError
from harness.scenarios.load import load_scenario, scenario, scenario_ids, scenarios
from harness.scenarios.model import (
    SHOWS,
    Client,
    Disconnect,
    Edit,
    Fail,
    Hold,
    Parallel,
    Pause,
    Run,
    Say,
    Scenario,
    Step,
    Think,
    Tool,
    Turn,
    Usage,
    describe,
)

__all__ = [
    "SHOWS",
    "Client",
    "Disconnect",
    "Edit",
    "Fail",
    "Hold",
    "Parallel",
    "Pause",
    "Run",
    "Say",
    "Scenario",
    "ScenarioError",
    "Step",
    "Think",
    "Tool",
    "Turn",
    "Usage",
    "describe",
    "load_scenario",
    "scenario",
    "scenario_ids",
    "scenarios",
]
