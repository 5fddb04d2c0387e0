// A normalizer to be: it takes every frame, and says of each that it is not mapped yet.
import type { ProviderRuntimeEventV2, RawSource, RuntimeEventPayloadByType } from "./canonical.ts";
import { type Conversation, type Frame, type Header, serve } from "./protocol.ts";

type Message = Record<string, any>;
type Ids = { threadId?: string; turnId?: string; itemId?: string; requestId?: string };

class Normalizer implements Conversation {
  #header: Header;
  #frame!: Frame;
  #kind?: string;
  #minted: Record<string, number> = {};
  #session?: string;
  #events: ProviderRuntimeEventV2[] = [];

  constructor(header: Header) {
    this.#header = header;
  }

  /** The events that this frame causes. It never looks ahead: a frame's events are final. */
  feed(frame: Frame): ProviderRuntimeEventV2[] {
    this.#events = [];
    // What the client starts, and log lines, are no events; see `harness show CASSETTE`.
    if (frame.channel === "start" || frame.channel === "stderr") return [];
    this.#frame = frame;
    const message = (frame.data ?? {}) as Message;
    this.#kind = message.type ?? message.method;
    if (!this.#session) {
      this.#session = this.mint("ses");
      this.emit("session.started", {}, {}, true);
    }
    this.message(this.#kind ?? frame.channel, message);
    return this.#events;
  }

  /** The events that the end of the frames causes. */
  close(): ProviderRuntimeEventV2[] {
    this.#events = [];
    // TODO: end what is still open (law `turns`, `items`, `requests`).
    return this.#events;
  }

  /** TODO: a case for each kind of message; EVENTS.md 3 to 5 says what becomes of it. */
  message(kind: string, message: Message): void {
    switch (kind) {
      default:
        // No frame is dropped in silence: what is not known is a warning.
        this.emit("runtime.warning", {
          message: `${kind} is not mapped yet`,
          detail: Object.keys(message),
        });
    }
  }

  /** A new id of ours: a provider's own id stands in `providerRefs` alone (law `ids`). */
  mint(prefix: string): string {
    this.#minted[prefix] = (this.#minted[prefix] ?? 0) + 1;
    return `${prefix}-${this.#minted[prefix]}`;
  }

  /** Add an event, caused by this frame; `madeUp` where no frame states it (DECISIONS.md 4). */
  emit<T extends keyof RuntimeEventPayloadByType>(
    type: T,
    payload: RuntimeEventPayloadByType[T],
    ids: Ids = {},
    madeUp = false,
  ): void {
    const { at, channel, data, text, b64 } = this.#frame;
    const own = channel === "stdout" || channel === "exit" ? `process.${channel}` : SOURCE;
    this.#events.push({
      type,
      eventId: this.mint("evt"),
      provider: this.#header.provider,
      sessionId: this.#session,
      // The frames' clock, not ours (law `clock`).
      createdAt: new Date(Date.parse(this.#header.recorded) + at).toISOString(),
      payload,
      // The frame's content as it came (law `raw`).
      raw: {
        source: this.#kind ? SOURCE : own,
        payload: data !== undefined ? data : (text ?? b64),
        messageType: madeUp ? "synthesized" : this.#kind,
      },
      ...ids,
    } as ProviderRuntimeEventV2);
  }
}

/** `raw.source` of what the agent says. */
const SOURCE: RawSource = "codex.sdk.thread-event";

await serve(
  { name: "my-normalizer", version: "0.1.0", surfaces: ["codex-exec"] },
  (header) => new Normalizer(header),
);
