"""The Claude Agent SDK: the real Python client over a recorded wire to its own CLI."""

import asyncio
import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from harness.cassette.scrub import Rules
from harness.recording.errors import RecordError
from harness.surfaces.base import Program, Setup, Wire
from harness.surfaces.claude_sdk.story import Story

if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient

    from harness.surfaces.claude_sdk.transport import WireTransport

__all__ = ["CAPABILITIES", "PROGRAM", "PROTOCOL", "RULES", "converse", "prepare"]

PROGRAM = Program(
    agent="claude-code", command="claude", package="claude_agent_sdk", inside="_bundled/claude"
)
PROTOCOL = "claude-agent-sdk stream-json"
CAPABILITIES: Final = {"canUseTool": True, "includePartialMessages": True, "settingSources": []}
RULES = Rules(
    durations=frozenset(
        {
            "first_content_frame_ms",
            "retry_delay_ms",
            "time_to_request_ms",
            "ttft_ms",
            "ttft_stream_ms",
        }
    ),
    patterns=(
        (r"\breq_(\d+)_[0-9a-f]{8}\b", r"req_\1_00000000"),  # the SDK's control requests
        (r"/cc-socks/\d+\.sock", "/cc-socks/1000.sock"),  # named after the CLI's process
        (r"/tool-results/[0-9a-z]{9}\.txt", "/tool-results/000000000.txt"),
    ),
    # What the CLI says of its commands and agents in its answer to `initialize`.
    prose={"description": 80},
)
_DECLINED = "The user declined."


def prepare(setup: Setup) -> Mapping[str, str]:
    """Return the variables that the CLI needs; it takes no configuration file."""
    folder = Path(setup.home) / ".claude"
    folder.mkdir(exist_ok=True)
    return {
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{setup.port}",
        "ANTHROPIC_API_KEY": setup.key,
        "CLAUDE_CONFIG_DIR": str(folder),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_AUTOUPDATER": "1",
        "IS_SANDBOX": "1",  # without it the CLI refuses to run as root
        # What the SDK sets where it starts the CLI itself.
        "CLAUDE_CODE_ENTRYPOINT": "sdk-py",
        "CLAUDE_CODE_SDK_READS_SESSION_STATE": "1",
    }


async def converse(setup: Setup, wire: Wire) -> None:
    """See `Converse`."""
    try:
        # A second of imports, which nothing but a recording needs.
        from claude_agent_sdk import (  # noqa: PLC0415
            ClaudeSDKClient,
            PermissionResultAllow,
            PermissionResultDeny,
        )

        from harness.surfaces.claude_sdk.transport import WireTransport  # noqa: PLC0415
    except ImportError as error:
        raise RecordError(
            5, f"recording claude-sdk: {error}; pip install claude-agent-sdk"
        ) from error
    story = Story(setup.scenario)

    async def can_use_tool(*_: Any) -> PermissionResultAllow | PermissionResultDeny:
        if story.turn.client.approvals == "allow":
            return PermissionResultAllow()
        return PermissionResultDeny(message=_DECLINED)

    options = _options(setup, can_use_tool)
    transport = WireTransport(wire, _arguments(options), story)
    await _talk(ClaudeSDKClient(options, transport), transport, story, wire)


async def _talk(
    client: "ClaudeSDKClient", transport: "WireTransport", story: Story, wire: Wire
) -> None:
    listening: asyncio.Task[None] | None = None
    try:
        wire.awaiting = "the response to initialize"
        await client.connect()
        listening = asyncio.create_task(_listen(client))
        while (prompt := story.next_prompt()) is not None:
            wire.awaiting = story.awaiting
            await client.query(prompt)
            while await _first(transport.cues.get(), listening) == "interrupt":
                await client.interrupt()
    except Exception as error:
        if transport.error is not None:
            raise transport.error from error
        if isinstance(error, RecordError):
            raise
        raise RecordError(
            5, f"the Claude Agent SDK gave up, awaiting {wire.awaiting}: {error}"
        ) from error
    finally:
        with contextlib.suppress(Exception):
            await client.disconnect()
        if listening is not None:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)


async def _listen(client: "ClaudeSDKClient") -> None:
    """Take what the SDK makes of the messages, as any client does; the cues come from the wire."""
    async for _ in client.receive_messages():
        pass


async def _first(cue: Any, listening: asyncio.Task[None]) -> str:
    """Return the next cue. Raises what ended the SDK's reading, where that comes first."""
    waiting = asyncio.ensure_future(cue)
    await asyncio.wait({waiting, listening}, return_when=asyncio.FIRST_COMPLETED)
    if waiting.done():
        return str(waiting.result())
    waiting.cancel()
    listening.result()
    raise RecordError(5, "the Claude Agent SDK ended the conversation")


def _options(setup: Setup, can_use_tool: Any) -> "ClaudeAgentOptions":
    from claude_agent_sdk import ClaudeAgentOptions  # noqa: PLC0415

    asks = setup.scenario.permissions == "ask"
    return ClaudeAgentOptions(
        cwd=setup.workspace,
        cli_path=setup.program,
        setting_sources=[],
        include_partial_messages=True,
        permission_mode="default" if asks else "bypassPermissions",
        # Where the CLI asks nothing, the SDK warns of a client that is ready to answer.
        can_use_tool=can_use_tool if asks else None,
    )


def _arguments(options: "ClaudeAgentOptions") -> list[str]:
    """Return the arguments that the SDK gives the CLI.

    The SDK has no public way to ask for them, and a list of our own would be a wire that no SDK
    speaks: so they are taken from its own transport, at the version that is pinned.
    """
    import dataclasses  # noqa: PLC0415

    from claude_agent_sdk._internal.transport.subprocess_cli import (  # noqa: PLC0415
        SubprocessCLITransport,
    )

    if options.can_use_tool is not None:
        # As the SDK's client does.
        options = dataclasses.replace(options, permission_prompt_tool_name="stdio")
    transport = SubprocessCLITransport(prompt="", options=options)
    command: list[str] = transport._build_command()  # noqa: SLF001 - see above
    return command[1:]
