"""The Claude Agent SDK: the real Python client over a recorded wire to its own CLI."""

import asyncio
import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from harness.cassette.scrub import Rules
from harness.recording.errors import RecordError
from harness.scenarios import Ask, Todo
from harness.surfaces.base import Program, Setup, Wire
from harness.surfaces.claude_sdk.story import Story

if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, ToolPermissionContext

    from harness.surfaces.claude_sdk.transport import WireTransport

__all__ = ["PROGRAM", "PROTOCOL", "RULES", "capabilities", "converse", "prepare"]

PROGRAM = Program(
    agent="claude-code", command="claude", package="claude_agent_sdk", inside="_bundled/claude"
)
PROTOCOL = "claude-agent-sdk stream-json"
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
        (r"\bduration_ms: \d+", "duration_ms: 1"),  # in the text of a task's result
        (r"/tool-results/[0-9a-z]{9}\.txt", "/tool-results/000000000.txt"),
    ),
    # Of a task, and of its run, which the CLI makes of the time and of chance.
    ids=(r"\ba([0-9a-f]{16})\b", r"\b0([0-9a-z]{8}-[0-9a-f]{8})\b"),
    # What the CLI says of its commands and agents in its answer to `initialize`.
    prose={"description": 80},
)
_DECLINED = "The user declined."


def capabilities(setup: Setup) -> Mapping[str, Any]:
    """Return what the client declares, and how it is set up."""
    return {
        "canUseTool": True,
        "includePartialMessages": True,
        "settingSources": _sources(setup),
    }


def _sources(setup: Setup) -> list[Literal["user", "project", "local"]]:
    """Commands of the workspace's are settings of the project."""
    return ["project"] if any(turn.command for turn in setup.scenario.turns) else []


def prepare(setup: Setup) -> Mapping[str, str]:
    """Write the scenario's commands; return the variables that the CLI needs."""
    folder = Path(setup.home) / ".claude"
    folder.mkdir(exist_ok=True)
    for turn in setup.scenario.turns:
        if turn.command:
            file = Path(setup.workspace, ".claude", "commands", f"{turn.command}.md")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(turn.prompt, "utf-8")
    variables = {}
    steps = [step for turn in setup.scenario.turns for step in turn.model]
    asks = "questions" in setup.scenario.capabilities
    if asks or any(isinstance(step, Todo | Ask) for step in steps):
        # Otherwise the model has to search for the tools that are seldom needed.
        variables["ENABLE_TOOL_SEARCH"] = "false"
    if any(isinstance(step, Todo) for step in steps):
        # The list is off unless it is asked for; of its two forms, the one that is kept whole.
        variables |= {"CLAUDE_CODE_ENABLE_TODO_TOOLS": "1", "CLAUDE_CODE_ENABLE_TASKS": "0"}
    return variables | {
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

    async def can_use_tool(
        name: str, given: dict[str, Any], context: "ToolPermissionContext"
    ) -> PermissionResultAllow | PermissionResultDeny:
        client = story.turn.client
        if name == "AskUserQuestion":
            asked = enumerate(given["questions"])
            answers = {one["question"]: client.answer_to(number) for number, one in asked}
            return PermissionResultAllow(updated_input={**given, "answers": answers})
        if client.approvals == "allow":
            return PermissionResultAllow()
        if client.approvals == "always":
            return PermissionResultAllow(updated_permissions=context.suggestions)
        return PermissionResultDeny(message=_DECLINED)

    while story.coming is not None:
        options = _options(setup, can_use_tool, story.session)
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
        await _turn(client, transport, story, wire, listening)
        while story.coming is not None and not story.coming.client.resume:
            await _turn(client, transport, story, wire, listening)
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
    if story.coming is not None:
        # The next turn is in a new process.
        story.leave()
        await wire.close_stdin()
        async for _ in wire.frames():
            pass


async def _turn(
    client: "ClaudeSDKClient",
    transport: "WireTransport",
    story: Story,
    wire: Wire,
    listening: asyncio.Task[None],
) -> None:
    if story.coming is not None and story.coming.client.mode:
        wire.awaiting = "the response to set_permission_mode"
        await client.set_permission_mode(story.coming.client.mode)
    prompt = story.next_prompt()
    wire.awaiting = story.awaiting
    await client.query(prompt)
    while await _first(transport.cues.get(), listening) == "interrupt":
        await client.interrupt()


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


def _options(setup: Setup, can_use_tool: Any, session: str) -> "ClaudeAgentOptions":
    from claude_agent_sdk import ClaudeAgentOptions  # noqa: PLC0415

    asks = setup.scenario.permissions == "ask"
    return ClaudeAgentOptions(
        cwd=setup.workspace,
        cli_path=setup.program,
        setting_sources=_sources(setup),
        resume=session or None,
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
