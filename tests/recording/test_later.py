"""What a client does not at once, but once the agent is silent, or the model holds its stream."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

from harness.cassette import Frame
from harness.surfaces.base import Action, OnceHeld, OnceSilent, Send, Signal
from tests.recording.fakes import FakeDriver, talk

AGENT = """
    import json, sys
    def say(**what): print(json.dumps(what), flush=True)
    for line in sys.stdin:
        told = json.loads(line)
        if "hello" in told: say(n=1), say(n=2), say(n=3)
        if "go" in told: say(n=4), say(n=5)
        if "stop" in told: say(bye=True)
"""


def test_once_silent_comes_after_all_that_the_agent_says_by_itself(tmp_path: Path) -> None:
    def answer(frame: Frame) -> Iterator[Action]:
        if frame.data == {"n": 1}:
            yield OnceSilent({"stop": 1})

    found = talk(tmp_path, AGENT, FakeDriver(answer))
    lines = [frame.content for frame in found.frames if frame.channel in {"stdin", "stdout"}]
    assert lines == [{"hello": 1}, {"n": 1}, {"n": 2}, {"n": 3}, {"stop": 1}, {"bye": True}]


def test_once_held_comes_after_the_model_holds_however_silent_the_agent_was(tmp_path: Path) -> None:
    held = asyncio.Event()

    def answer(frame: Frame) -> Iterator[Action]:
        if frame.data == {"n": 1}:
            yield OnceHeld(Send({"stop": 1}))
            # The agent is silent for longer than a silence takes before the model is asked.
            asyncio.get_running_loop().call_later(0.2, model_is_asked)
        if frame.data == {"n": 3}:
            yield Send({"go": 1})

    def model_is_asked() -> None:
        held.set()

    found = talk(tmp_path, AGENT, FakeDriver(answer), held=held)
    lines = [frame.content for frame in found.frames if frame.channel in {"stdin", "stdout"}]
    said = [{"n": number} for number in (1, 2, 3)]
    more = [{"go": 1}, {"n": 4}, {"n": 5}]
    assert lines == [{"hello": 1}, *said, *more, {"stop": 1}, {"bye": True}]
    stop = next(frame for frame in found.frames if frame.content == {"stop": 1})
    assert stop.at >= 200


def test_once_held_can_be_a_signal(tmp_path: Path) -> None:
    held = asyncio.Event()

    def answer(frame: Frame) -> Iterator[Action]:
        if frame.data == {"n": 3}:
            yield OnceHeld(Signal("SIGINT"))
            held.set()

    body = """
        import json, signal, sys
        def stopped(*_):
            print('{"bye": true}', flush=True); sys.exit()
        signal.signal(signal.SIGINT, stopped)
        sys.stdin.readline()
        for n in (1, 2, 3): print(json.dumps({"n": n}), flush=True)
        signal.pause()
    """
    found = talk(tmp_path, body, FakeDriver(answer), held=held)
    assert found.of("stdout") == [{"n": 1}, {"n": 2}, {"n": 3}, {"bye": True}]
    assert found.of("exit") == [{"code": 0}]
