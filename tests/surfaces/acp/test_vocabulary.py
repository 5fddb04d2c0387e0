"""The vocabulary is held to the schema's names, and the normalizer to the vocabulary."""

from harness.surfaces import surface
from harness.surfaces.acp.names import CLIENT, SERVED
from harness.surfaces.acp.recorder import UPDATES
from harness.surfaces.acp.updates import HANDLERS

KINDS = surface("acp").vocabulary.kinds


def test_every_update_of_version_1_is_mapped() -> None:
    assert len(UPDATES) == 11
    assert set(HANDLERS) == set(UPDATES)
    told = {k.removeprefix("session/update ") for k in KINDS if k.startswith("session/update ")}
    assert told == set(UPDATES)
    assert all(KINDS[f"session/update {update}"].to for update in UPDATES)


def test_every_request_of_the_client_has_its_answers() -> None:
    for method in CLIENT:
        assert f"client {method}" in KINDS, method
        assert f"response {method}" in KINDS, method
        assert f"error {method}" in KINDS, method


def test_every_request_of_the_agent_has_its_answer() -> None:
    asked = {k.removeprefix("request ") for k in KINDS if k.startswith("request ")}
    assert asked == SERVED | {"session/request_permission", "elicitation/create"}
    assert all(f"client-response {method}" in KINDS for method in asked)
