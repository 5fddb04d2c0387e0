// A whole normalizer of `codex exec --json`; [N] is an entry of harness/canonical/DECISIONS.md.
import type { ItemLifecyclePayload, ProviderRuntimeEventV2 as Event, Raw,
  RuntimeEventPayloadByType as Payloads, TurnCompletedPayload } from "./canonical.ts";
type Json = Record<string, any>;
type Item = { id: string; ref: string; shown: ItemLifecyclePayload; over?: boolean };
const TYPES: Json = { agent_message: "assistant_message", todo_list: "plan", reasoning: "reasoning",
  command_execution: "command_execution", file_change: "file_change",
  collab_tool_call: "collab_agent_tool_call" };
const STATES: Json = { in_progress: "inProgress", declined: "declined", failed: "failed" };
const CUT_OFF: TurnCompletedPayload = { state: "interrupted", stopReason: "missing-terminal" };

class Normalizer { // of one conversation: `feed` every frame, then `close`; each returns events
  minted = new Map<string, number>();
  threads = new Map<string, string>(); // the provider's id, and ours
  items = new Map<string, Item>();
  session?: string; thread?: string; turn?: string; native?: string; resume?: Json;
  events: Event[] = []; raw!: Raw; now = ""; header: Json;
  constructor(header: Json) { this.header = header; }
  mint(prefix: string): string {
    this.minted.set(prefix, (this.minted.get(prefix) ?? 0) + 1);
    return `${prefix}-${this.minted.get(prefix)}`;
  }

  /** Ids are minted, the provider's are refs (EVENTS.md 1.6); the clock is the frames' [8]. */
  emit<T extends keyof Payloads>(type: T, payload: Payloads[T], item?: Item, madeUp = false) {
    const threaded = this.thread && !type.startsWith("session.");
    const refs = { providerThreadId: this.native, providerItemId: item?.ref };
    this.events.push({ type, eventId: this.mint("evt"), provider: this.header.provider, payload,
      sessionId: this.session, threadId: threaded ? this.thread : undefined, turnId: this.turn,
      itemId: item?.id, providerRefs: threaded ? refs : undefined, createdAt: this.now,
      raw: madeUp ? { ...this.raw, messageType: "synthesized" } : this.raw } as Event);
  }

  feed(frame: Json): Event[] {
    this.events = [];
    this.now = new Date(Date.parse(this.header.recorded) + frame.at).toISOString();
    const content = "data" in frame ? frame.data : frame.text ?? frame.b64;
    const kind: string | undefined = content?.type;
    if (frame.channel === "start") {
      const words: string[] = content.command;
      this.resume = words.includes("resume") ? { providerThreadId: words.at(-2) } : undefined;
    } else if (frame.channel !== "stderr") { // which is for people, and gives no events [19]
      const source = kind ? "codex.sdk.thread-event" : `process.${frame.channel}`;
      this.raw = { source, payload: content, messageType: kind } as Raw;
      if (!this.session) { // each process is one, which its first evidence starts [13]
        this.session = this.mint("ses");
        this.emit("session.started", { resume: this.resume }, undefined, kind !== "thread.started");
      }
      this.message(kind ?? frame.channel, content ?? {}, content?.item);
    }
    return this.events;
  }

  message(kind: string, message: Json, item?: Json) {
    if (kind === "thread.started") {
      const native: string = (this.native = message.thread_id);
      this.thread = this.threads.get(native) ?? this.mint("thr");
      this.threads.set(native, this.thread);
      this.emit(kind, { providerThreadId: native });
    } else if (kind === "turn.started") {
      this.endTurn(CUT_OFF);
      this.turn = this.mint("trn");
      this.emit(kind, {});
    } else if (kind === "error" || item?.type === "error") { // it may be tried again [9]
      this.emit("runtime.warning", { message: (item ?? message).message });
    } else if (this.turn && kind === "turn.completed") { // it tells a total of the thread [10, 12]
      this.endTurn({ state: "completed", usage: { scope: "thread", tokens: message.usage } });
    } else if (this.turn && kind === "turn.failed") {
      const words: string = message.error.message;
      this.emit("runtime.error", { message: words, class: "unknown", detail: message.error });
      this.endTurn({ state: "failed", errorMessage: words });
    } else if (this.turn && item && !this.items.get(item.id)?.over) {
      this.item(kind, item);
    } else if (kind === "exit") {
      this.endTurn(CUT_OFF);
      const reason = "code" in message ? `exit code ${message.code}` : `signal ${message.signal}`;
      this.emit("session.exited", { reason, exitKind: message.code === 0 ? "graceful" : "error" });
      this.session = this.thread = undefined;
    } else { // no frame is dropped in silence
      this.emit("runtime.warning", { message: `${kind}: not known, or of what is over` });
    }
  }

  item(kind: string, native: Json) {
    const over = kind === "item.completed", shown = view(native, over);
    const item = this.items.get(native.id) ?? { id: this.mint("itm"), ref: native.id, shown };
    const bare = { itemType: shown.itemType, status: "inProgress" } as ItemLifecyclePayload;
    const stated = kind === "item.started";
    if (!this.items.has(native.id)) this.emit("item.started", stated ? shown : bare, item, !stated);
    if (!stated) this.emit(kind as "item.updated", shown, item);
    this.items.set(native.id, { ...item, shown, over });
    if (native.type === "todo_list") {
      this.emit("turn.plan.updated", { plan: native.items.map((step: Json) =>
        ({ step: step.text, status: step.completed ? "completed" : "pending" })) });
    }
  }

  /** Close what the turn leaves open, then the turn [4]. */
  endTurn(payload: TurnCompletedPayload) {
    const done = payload.state === "completed";
    for (const item of [...this.items.values()].filter((item) => !item.over)) {
      const data = Object.entries(item.shown.data as Json).filter(([, value]) => value !== "");
      const detail = done ? "no result by the end of the turn" : `the turn was ${payload.state}`;
      this.emit("item.completed", { ...item.shown, status: done ? undefined : "failed", detail,
        data: Object.fromEntries(data) }, item, true);
    }
    if (this.turn) this.emit("turn.completed", payload, undefined, payload === CUT_OFF);
    this.turn = undefined;
    this.items.clear();
  }

  close(): Event[] { this.events = []; this.endTurn(CUT_OFF); return this.events; }
}

/** What an item is, in the names that it has on every surface [11]. */
function view(native: Json, ended: boolean): ItemLifecyclePayload {
  const { id: _id, type, status, ...rest } = native;
  const told = Object.entries(rest).filter(([, value]) => value !== null);
  const camel = (name: string) =>
    name.replace("aggregated_", "").replace(/_(.)/g, (_, letter) => letter.toUpperCase());
  const data: Json = Object.fromEntries(told.map(([name, value]) => [camel(name), value]));
  const done = data.items?.filter((step: Json) => step.completed).length;
  const title = data.items ? `${done} of ${data.items.length} steps done` : data.command
    ?? data.tool ?? data.changes?.map((change: Json) => `${change.kind} ${change.path}`).join(", ");
  return { itemType: TYPES[type] ?? "unknown", title, data,
    status: data.exitCode ? "failed" : STATES[status] ?? (ended ? "completed" : "inProgress"),
    detail: data.exitCode ? `exit code ${data.exitCode}` : data.prompt };
}

const open = new Map<string, Normalizer>();
function answer({ cmd, conversation, header, frames }: Json): Json {
  if (cmd === "start") return { protocol: 1, name: "codex-exec-example", version: "1.0.0",
    language: "typescript", surfaces: ["codex-exec"] };
  if (cmd === "open") open.set(conversation, new Normalizer(header));
  const normalizer = open.get(conversation)!;
  if (cmd === "frames") return { events: frames.map((frame: Json) => normalizer.feed(frame)) };
  return cmd === "close" && open.delete(conversation) ? { events: normalizer.close() } : {};
}
let read = ""; // split at line feeds alone: node:readline would split at U+2028 too
loop: for await (const chunk of process.stdin.setEncoding("utf8")) {
  read += chunk;
  if (!chunk.includes("\n")) continue;
  const lines = read.split("\n");
  read = lines.pop()!;
  for (const request of lines.map((line) => JSON.parse(line))) {
    process.stdout.write(JSON.stringify({ id: request.id, ...answer(request) }) + "\n");
    if (request.cmd === "stop") break loop;
  }
}
