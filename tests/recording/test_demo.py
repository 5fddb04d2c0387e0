"""`harness demo`: an agent that is missing is left out, one that breaks fails the demo."""

from pathlib import Path
from typing import Any

import pytest

from harness import demo as module
from harness.recording import RecordError


@pytest.mark.parametrize("missing", [True, False])
def test_only_a_program_that_is_not_there_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: bool
) -> None:
    def breaks(*_: Any, **__: Any) -> Any:
        raise RecordError(5, "why", missing=missing)

    monkeypatch.setattr(module, "record", breaks)
    run = module._Demo(None, isolate=None, json=True)  # type: ignore[arg-type]
    run.record(tmp_path)
    if missing:
        assert run.missing == [f"{name}: why" for name in module.SURFACES]
        assert (run.failed, run.codes) == ([], [])
    else:
        assert run.missing == []
        assert run.failed == [f"{n}/{s}: why" for n in module.SURFACES for s in module.SCENARIOS]
        assert run.codes == [5] * 6
