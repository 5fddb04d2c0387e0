"""A whole normalizer of `codex exec --json`; [N] is an entry of harness/canonical/DECISIONS.md."""

import json
import re
import sys
from datetime import datetime, timedelta

TYPES = {"agent_message": "assistant_message", "todo_list": "plan", "reasoning": "reasoning",
         "command_execution": "command_execution", "file_change": "file_change",
         "collab_tool_call": "collab_agent_tool_call"}
STATES = {"in_progress": "inProgress", "declined": "declined", "failed": "failed"}
CUT_OFF = {"state": "interrupted", "stopReason": "missing-terminal"}


class Normalizer:  # of one conversation: `feed` every frame, then `close`; each returns events
    def __init__(self, header):
        self.provider, self.start = header["provider"], datetime.fromisoformat(header["recorded"])
        self.session = self.thread = self.turn = self.native = self.resume = None
        self.minted, self.threads, self.items = {}, {}, {}

    def mint(self, prefix):
        self.minted[prefix] = self.minted.get(prefix, 0) + 1
        return f"{prefix}-{self.minted[prefix]}"

    def emit(self, type_, payload, item=None, *, made_up=False):
        """Ids are minted, the provider's are refs (EVENTS.md 1.6); the clock is the frames' [8]."""
        event = {"type": type_, "eventId": self.mint("evt"), "itemId": item and item["id"],
                 "provider": self.provider, "sessionId": self.session, "turnId": self.turn,
                 "raw": self.raw | ({"messageType": "synthesized"} if made_up else {}),  # [4]
                 "payload": payload, "createdAt": self.now}
        if self.thread and not type_.startswith("session."):
            event |= {"threadId": self.thread, "providerRefs": present(
                {"providerThreadId": self.native, "providerItemId": item and item["ref"]})}
        self.events.append(present(event))

    def feed(self, frame):
        self.events, self.now = [], (self.start + timedelta(milliseconds=frame["at"])).isoformat()
        content = next(frame[name] for name in ("data", "text", "b64") if name in frame)
        message = content if isinstance(content, dict) else {}
        kind, channel = message.get("type"), frame["channel"]
        if channel == "start":
            words = message["command"]
            self.resume = {"providerThreadId": words[-2]} if "resume" in words else None
        elif channel != "stderr":  # which is for people, and gives no events [19]
            source = "codex.sdk.thread-event" if kind else f"process.{channel}"
            self.raw = present({"source": source, "payload": content, "messageType": kind})
            if not self.session:  # each process is one, which its first evidence starts [13]
                self.session, stated = self.mint("ses"), kind == "thread.started"
                self.emit("session.started", present({"resume": self.resume}), made_up=not stated)
            self.message(kind or channel, message, message.get("item", {}))
        return self.events

    def message(self, kind, message, item):
        if kind == "thread.started":
            self.native = message["thread_id"]
            self.thread = self.threads.setdefault(self.native, f"thr-{len(self.threads) + 1}")
            self.emit(kind, {"providerThreadId": self.native})
        elif kind == "turn.started":
            self.end_turn(CUT_OFF)
            self.turn = self.mint("trn")
            self.emit(kind, {})
        elif kind == "error" or item.get("type") == "error":  # it may be tried again [9]
            self.emit("runtime.warning", {"message": (item or message)["message"]})
        elif self.turn and kind == "turn.completed":  # it tells a total of the thread [10, 12]
            usage = {"scope": "thread", "tokens": message["usage"]}
            self.end_turn({"state": "completed", "usage": usage})
        elif self.turn and kind == "turn.failed":
            error, words = message["error"], message["error"]["message"]
            self.emit("runtime.error", {"message": words, "class": "unknown", "detail": error})
            self.end_turn({"state": "failed", "errorMessage": words})
        elif self.turn and item and self.items.get(item["id"], item):
            self.item(kind, item, item["id"])
        elif kind == "exit":
            self.end_turn(CUT_OFF)
            code, kind = message.get("code"), "graceful" if message.get("code") == 0 else "error"
            reason = f"signal {message['signal']}" if code is None else f"exit code {code}"
            self.emit("session.exited", {"reason": reason, "exitKind": kind})
            self.session = self.thread = None
        else:  # no frame is dropped in silence
            self.emit("runtime.warning", {"message": f"{kind}: not known, or of what is over"})

    def item(self, kind, native, ref):
        item, shown = self.items.get(ref), view(native, ended=kind == "item.completed")
        if not item:
            item, stated = {"id": self.mint("itm"), "ref": ref}, kind == "item.started"
            bare = {"itemType": shown["itemType"], "status": "inProgress"}
            self.emit("item.started", shown if stated else bare, item, made_up=not stated)
        if kind != "item.started":
            self.emit(kind, shown, item)
        self.items[ref] = None if kind == "item.completed" else item | {"shown": shown}
        if native["type"] == "todo_list":
            self.emit("turn.plan.updated", {"plan": [
                {"step": step["text"], "status": "completed" if step["completed"] else "pending"}
                for step in native["items"]]})

    def end_turn(self, payload):
        """Close what the turn leaves open, then the turn [4]."""
        for item in filter(None, self.items.values()):
            data = {name: it for name, it in item["shown"]["data"].items() if it != ""}
            state, done = payload["state"], payload["state"] == "completed"
            left = {"status": None if done else "failed", "data": data, "detail":
                    "no result by the end of the turn" if done else f"the turn was {state}"}
            self.emit("item.completed", present(item["shown"] | left), item, made_up=True)
        if self.turn:
            self.emit("turn.completed", payload, made_up=payload is CUT_OFF)
        self.turn, self.items = None, {}

    def close(self):
        self.events = []
        self.end_turn(CUT_OFF)
        return self.events


def present(fields):
    return {name: value for name, value in fields.items() if value is not None}


def view(native, *, ended):
    """What an item is, in the names that it has on every surface [11]."""
    data = {re.sub("_(.)", lambda it: it[1].upper(), name.replace("aggregated_", "")): value
            for name, value in present(native).items() if name not in {"id", "type", "status"}}
    status = STATES.get(native.get("status"), "completed" if ended else "inProgress")
    code, title = data.get("exitCode"), data.get("command", data.get("tool"))
    if "changes" in data:
        title = ", ".join(f"{change['kind']} {change['path']}" for change in data["changes"])
    elif "items" in data:
        title = f"{sum(s['completed'] for s in data['items'])} of {len(data['items'])} steps done"
    return present({"itemType": TYPES.get(native["type"], "unknown"),
                    "status": "failed" if code else status, "title": title,
                    "detail": f"exit code {code}" if code else data.get("prompt"), "data": data})


if __name__ == "__main__":
    sessions = {}
    for line in sys.stdin.buffer:
        request = json.loads(line)
        command, answer = request["cmd"], {"id": request["id"]}
        if command == "start":
            answer |= {"protocol": 1, "name": "codex-exec-example", "version": "1.0.0",
                       "language": "python", "surfaces": ["codex-exec"]}
        elif command == "open":
            sessions[request["conversation"]] = Normalizer(request["header"])
        elif command == "frames":
            answer["events"] = list(map(sessions[request["conversation"]].feed, request["frames"]))
        elif command == "close":
            answer["events"] = sessions.pop(request["conversation"]).close()
        print(json.dumps(answer), flush=True)
        if command == "stop":
            break
