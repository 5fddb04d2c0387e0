"""How a process of Codex ended."""

from msgspec import UNSET

from harness.canonical import payloads as pl
from harness.cassette import Frame


def exited(frame: Frame, last_error: str) -> pl.SessionExitedPayload:
    """Return the payload of `session.exited` for an exit frame: `{code}` or `{signal}`.

    `last_error` is the last line on stderr, which tells why a process that failed did so.
    """
    data = frame.data if isinstance(frame.data, dict) else {}
    code, signal = data.get("code"), data.get("signal")
    if code == 0:
        return pl.SessionExitedPayload("exit code 0", exitKind="graceful")
    reason = f"signal {signal}" if signal is not None else f"exit code {code}"
    if code is not None and last_error:
        reason += f": {last_error}"
    known = code is not None or signal is not None
    return pl.SessionExitedPayload(reason, exitKind="error" if known else UNSET)
