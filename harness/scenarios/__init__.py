"""Scenarios: what happens in a conversation, told once for all surfaces.

One YAML file each, `ID.yaml`, beside this module. Importing the package reads no YAML, and does
not import a YAML parser: that happens when a scenario is first loaded.
"""

from harness.scenarios.errors import ScenarioError
from harness.scenarios.load import load_scenario, scenario, scenario_ids, scenarios
from harness.scenarios.model import (
    SHOWS,
    Ask,
    Client,
    Disconnect,
    Edit,
    Entry,
    Fail,
    Hold,
    Parallel,
    Pause,
    Read,
    Run,
    Say,
    Scenario,
    Step,
    Task,
    Think,
    Todo,
    Tool,
    Turn,
    Usage,
    describe,
)

__all__ = [
    "SHOWS",
    "Ask",
    "Client",
    "Disconnect",
    "Edit",
    "Entry",
    "Fail",
    "Hold",
    "Parallel",
    "Pause",
    "Read",
    "Run",
    "Say",
    "Scenario",
    "ScenarioError",
    "Step",
    "Task",
    "Think",
    "Todo",
    "Tool",
    "Turn",
    "Usage",
    "describe",
    "load_scenario",
    "scenario",
    "scenario_ids",
    "scenarios",
]
