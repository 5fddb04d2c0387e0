"""Parts of messages: text, reasoning, tools, steps, patches; streamed, told again, restored."""

from typing import Any, Final

from msgspec import UNSET, structs

from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.canonical.names import CanonicalItemType, ContentStreamKind
from harness.surfaces.ledger import Ledger
from harness.surfaces.opencode.names import TOOLS, Message, ident, table, text
from harness.surfaces.opencode.state import Part, Session
from harness.surfaces.usage import flaw

_OTHERS: dict[str, CanonicalItemType] = {
    "patch": "file_change",
    "subtask": "collab_agent_tool_call",
    "compaction": "context_compaction",
}
_STREAMS: Final[dict[str, ContentStreamKind]] = {
    "reasoning": "reasoning_text",
    "command_execution": "command_output",
}


class Parts:
    """Handles `message.part.*` of every session. `roles` is each message's role by its id."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.roles: dict[str, str] = {}

    def delta(self, session: Session, properties: Message) -> None:
        """Handle `message.part.delta`: it may come before its part is told."""
        native, words = ident(properties["partID"]), properties["delta"]
        if properties.get("field", "text") != "text" or not isinstance(words, str):
            self.ledger.warn("a delta of a field that is not known", UNSET, session.turn)
            return
        part = session.parts.get(native)
        if part is None:
            part = self._start(session, native, "assistant_message", {})
        self._say(session, part, words)

    def updated(self, session: Session, properties: Message) -> None:
        """Handle `message.part.updated`: a snapshot of the whole part."""
        told = table(properties["part"])
        kind, native = told.get("type"), ident(told["id"])
        part = session.parts.get(native)
        if part is not None and part.item.open and kind not in part.kinds:
            # It goes on as what it began as: its turn ends it, if nothing else does.
            self.ledger.warn("a part was told again as another kind", told, session.turn)
        elif kind == "step-finish":
            self._step(session, told)
        elif kind in {"text", "reasoning"}:
            self._text(session, native, told)
        elif kind == "tool":
            self._tool(session, native, told)
        elif kind == "retry":
            self.ledger.warn("the model's answer is asked for again", told, session.turn)
        elif kind in {"step-start", "snapshot"}:
            return
        else:
            self._whole(session, native, told)

    def removed(self, session: Session, properties: Message) -> None:
        """Handle `message.part.removed`: what was said is withdrawn, its item is over."""
        part = session.parts.get(ident(properties["partID"]))
        if part is not None:
            self.ledger.complete(part.item, UNSET)
        self.ledger.warn("a part was removed", properties, session.turn)

    def restored(self, session: Session, message: Message) -> None:
        """Tell the parts of a message of the history, marked, in no turn.

        What the process has told already is not told again.
        """
        role = text(table(message.get("info")).get("role"))
        for told in message["parts"]:
            kind = self._type(told, role)
            if kind is None or told.get("id") in session.parts:
                continue
            data: Message = {"replay": True, **_content(told)}
            status = _status(session, told)
            title: Any = _title(told) or UNSET
            payload = pl.ItemLifecyclePayload(kind, "inProgress", title, data=data)
            refs = structs.replace(session.refs, providerItemId=text(told.get("id")) or UNSET)
            item = self.ledger.start_item(None, "", payload, refs, session.thread)
            session.parts[text(told.get("id"))] = Part(item)
            self.ledger.complete(item, status, structs.replace(payload, status=status))

    def _type(self, told: Message, role: str) -> CanonicalItemType | None:
        kind = told.get("type")
        if kind == "text":
            return "user_message" if role == "user" else "assistant_message"
        if kind == "reasoning":
            return "reasoning"
        if kind == "tool":
            return TOOLS.get(text(told.get("tool")), "dynamic_tool_call")
        if kind in {"step-start", "step-finish", "snapshot", "retry"}:
            return None
        return _OTHERS.get(text(kind), "unknown")

    def _start(self, session: Session, native: str, kind: CanonicalItemType, data: Message) -> Part:
        session.evidence = session.evidence or kind != "user_message"
        turn = session.begin(synthesized=True)
        refs = structs.replace(session.refs, providerItemId=native)
        payload = pl.ItemLifecyclePayload(kind, "inProgress", data=data or UNSET)
        if kind not in {"user_message", "assistant_message", "reasoning"}:
            title = text(data.get("command")) or text(data.get("tool"))
            payload = structs.replace(payload, title=title or UNSET)
        part = Part(self.ledger.start_item(turn, native, payload, refs))
        session.parts[native] = part
        return part

    def _say(self, session: Session, part: Part, words: str) -> None:
        if not part.item.open:
            self.ledger.warn("a delta of a part that is over", UNSET, session.turn)
            return
        if part.item.type == "user_message":
            part.said += words
            self._update(part, {"text": part.said})
            return
        part.said += words
        # What a turn leaves open ends with it.
        name = "output" if part.item.type == "command_execution" else "text"
        part.item.data = {**(part.known or {}), name: part.said}
        stream = _STREAMS.get(part.item.type, "assistant_text")
        turn = part.item.turn
        self.ledger.emit(
            ev.ContentDelta,
            pl.ContentDeltaPayload(stream, words),
            thread=session.thread,
            turn=turn.id if turn else UNSET,
            item=part.item.id,
            refs=part.item.refs,
        )

    def _text(self, session: Session, native: str, told: Message) -> None:
        role = self.roles.get(text(told.get("messageID")), "assistant")
        part = session.parts.get(native)
        new = part is None
        whole = text(told.get("text"))
        if part is None:
            kind = self._type(told, role) or "unknown"
            data: Message = {"synthetic": True} if told.get("synthetic") is True else {}
            part = self._start(session, native, kind, data)
        if not part.item.open:
            self.ledger.warn("a part that is over was told again", UNSET, session.turn)
            return
        ended = "end" in table(told.get("time")) or part.item.type == "user_message"
        if part.item.type == "user_message":
            data = {"text": whole}
            if told.get("synthetic") is True:
                data["synthetic"] = True
            payload = pl.ItemLifecyclePayload(part.item.type, "completed", data=data)
            self.ledger.complete(part.item, "completed", payload)
            return
        self._grow(session, part, whole, new=new, ended=ended)
        if ended:
            data = {"text": part.said}
            if whole != part.said:
                data["finalText"] = whole
                self.ledger.warn("the text is not what was streamed", UNSET, session.turn)
            payload = pl.ItemLifecyclePayload(part.item.type, "completed", data=data)
            self.ledger.complete(part.item, "completed", payload)

    def _grow(self, session: Session, part: Part, whole: str, *, new: bool, ended: bool) -> None:
        """Tell what a snapshot adds to what was streamed: a delta, or that it replaces all."""
        grown = whole.startswith(part.said) and part.replaced is None
        if grown and len(whole) > len(part.said):
            self._say(session, part, whole[len(part.said) :])
        elif not ended and part.said.startswith(whole):
            # A snapshot from before the deltas takes nothing back.
            if not new:
                self._update(part, {"text": part.said})
        elif not ended:
            part.replaced = whole
            self._update(part, {"text": whole, "replaces": True})
            part.item.data = {"text": part.said, "finalText": whole}

    def _update(self, part: Part, data: Message) -> None:
        self.ledger.update(
            part.item, pl.ItemLifecyclePayload(part.item.type, "inProgress", data=data)
        )

    def _tool(self, session: Session, native: str, told: Message) -> None:
        kind = self._type(told, "") or "unknown"
        data = _content(told)
        part = session.parts.get(native)
        new = part is None
        if part is None:
            part = self._start(session, native, kind, data)
            session.calls[text(told.get("callID"))] = part
        if not part.item.open:
            self.ledger.warn("a tool that is over was told again", UNSET, session.turn)
            return
        status = _status(session, told)
        state = table(told.get("state"))
        title: Any = _title(told) or UNSET
        part.item.title = title
        detail: Any = text(state.get("error")) or _exit(told) or UNSET
        output = text(table(state.get("metadata")).get("output"))
        ended = status in {"completed", "failed", "declined"}
        streams = part.item.type == "command_execution"
        known = {name: data[name] for name in data if name not in {"metadata", "output"}}
        if streams and not ended and output and known == part.known:
            # Only its output is new.
            self._output(session, part, output)
            return
        if streams and ended and (part.said or part.replaced is not None):
            self._last_output(session, part, output, data)
        payload = pl.ItemLifecyclePayload(part.item.type, status, title, detail, data)
        if ended:
            self.ledger.complete(part.item, status, payload)
            return
        if state.get("status") not in {"pending", "running"}:
            self.ledger.warn("a tool's state is not known", state, session.turn)
        if not new:
            self.ledger.update(part.item, payload)
        part.known = known
        if streams and output:
            self._output(session, part, output)

    def _output(self, session: Session, part: Part, whole: str) -> None:
        """Tell what a snapshot of a running command's output adds, or that it replaces all."""
        if part.replaced is not None or not whole.startswith(part.said):
            part.replaced = whole
            self._update(part, {"output": whole, "replaces": True})
            part.item.data = {**(part.known or {}), "output": part.said, "finalOutput": whole}
        elif rest := whole[len(part.said) :]:
            self._say(session, part, rest)
        else:
            self._update(part, {"output": whole})
            part.item.data = {**(part.known or {}), "output": whole}

    def _last_output(self, session: Session, part: Part, whole: str, data: Message) -> None:
        """Tell the rest of a command's output; what the model was told may be another text."""
        if part.replaced is None and whole.startswith(part.said):
            if rest := whole[len(part.said) :]:
                self._say(session, part, rest)
        else:
            data["finalOutput"] = whole
            self.ledger.warn("the output is not what was streamed", UNSET, session.turn)
        if "output" in data and data["output"] != whole:
            data["result"] = data["output"]
        data["output"] = part.said

    def _whole(self, session: Session, native: str, told: Message) -> None:
        """A part that is told once, whole."""
        if native in session.parts:
            self.ledger.warn("a part that is over was told again", UNSET, session.turn)
            return
        role = self.roles.get(text(told.get("messageID")), "")
        part = self._start(session, native, self._type(told, role) or "unknown", {})
        payload = pl.ItemLifecyclePayload(part.item.type, "completed", data=_content(told))
        self.ledger.complete(part.item, "completed", payload)

    def _step(self, session: Session, told: Message) -> None:
        tokens = table(told.get("tokens"))
        counts = [*tokens.values(), *table(tokens.get("cache")).values()]
        if not any(isinstance(count, int | float) and count for count in counts):
            self.ledger.warn("a step ended without any tokens: its usage is not known", told)
            return
        usage: Message = {"scope": "step", "tokens": tokens}
        if "cost" in told:
            usage["cost"] = told["cost"]
        if said := flaw(usage):
            self.ledger.warn(said, told, session.turn)
            return
        self.ledger.emit(
            ev.ThreadTokenUsageUpdated, pl.ThreadTokenUsageUpdatedPayload(usage), **session.place
        )


def _content(told: Message) -> Message:
    """The whole of a part under the model's names, and what it has no name for as it came."""
    kind = told.get("type")
    if kind in {"text", "reasoning"}:
        return {"text": text(told.get("text"))}
    if kind == "patch":
        files = told.get("files")
        names = files if isinstance(files, list) else []
        return {"changes": [{"path": name, "kind": "update"} for name in names]}
    if kind != "tool":
        hidden = {"id", "sessionID", "messageID"}
        return {name: value for name, value in told.items() if name not in hidden}
    state = table(told.get("state"))
    data: Message = {"tool": told.get("tool"), "callId": told.get("callID")}
    data |= {n: state[n] for n in ("input", "output", "error", "metadata") if n in state}
    given, more = table(state.get("input")), table(state.get("metadata"))
    command = given.get("command")
    if isinstance(command, str):
        data["command"] = command
    code = _code(told)
    if code is not None:
        data["exitCode"] = code
    path = text(given.get("filePath"))
    if path and "exists" in more:
        data["changes"] = [{"path": path, "kind": "update" if more["exists"] else "add"}]
    elif path and text(more.get("diff")):
        data["changes"] = [{"path": path, "kind": "update", "diff": more["diff"]}]
    return data


def _code(told: Message) -> int | None:
    """The exit code of a tool that is a command."""
    code = table(table(told.get("state")).get("metadata")).get("exit")
    return code if isinstance(code, int) and not isinstance(code, bool) else None


def _exit(told: Message) -> str:
    """How a command failed, as DECISIONS.md 11 has it."""
    code = _code(told)
    return f"exit code {code}" if code else ""


def _title(told: Message) -> str:
    """What a tool does: as the agent has it, else its command or its name."""
    state = table(told.get("state"))
    command = text(table(state.get("input")).get("command"))
    return text(state.get("title")) or command or text(told.get("tool"))


def _status(session: Session, told: Message) -> Any:
    """The status of a part: of a tool its state, of any other part that it is whole."""
    if told.get("type") != "tool":
        return "completed"
    status = table(told.get("state")).get("status")
    if status == "error" and text(told.get("callID")) in session.declined:
        return "declined"
    if status == "completed" and _code(told):
        return "failed"  # the tool did its work: the command did not
    return {"completed": "completed", "error": "failed"}.get(text(status), "inProgress")
