// Protocol version 1 of the harness: JSON lines on standard input and output. Nothing in here has
// to be changed. Standard output is the harness's: logs go to standard error (console.error).
import type { ProviderKind, ProviderRuntimeEventV2 } from "./canonical.ts";

/** What a cassette says of itself: which agent was recorded, over which surface, and when. */
export interface Header {
  surface: string;
  provider: ProviderKind;
  agent: { name: string; version: string };
  scenario: string;
  /** RFC 3339; the frames' clock begins here. */
  recorded: string;
  [name: string]: unknown;
}

/** One record of a cassette; of `data`, `text` and `b64` it has exactly one. */
export interface Frame {
  seq: number;
  /** Milliseconds since the recording began. */
  at: number;
  /** `in`: from the agent to its client; `out`: the other way. */
  dir: "in" | "out";
  channel: "start" | "stdout" | "stderr" | "stdin" | "http" | "sse" | "exit";
  data?: unknown;
  text?: string;
  b64?: string;
}

export interface Conversation {
  feed(frame: Frame): ProviderRuntimeEventV2[];
  close(): ProviderRuntimeEventV2[];
}

/** What it says of itself: `surfaces` and `levels` are all of them where they are left out. */
export interface About {
  name: string;
  version: string;
  surfaces?: string[];
  levels?: ("schema" | "laws" | "expected" | "coverage")[];
}

/** Answer requests until `stop`. `open` makes the normalizer of one conversation. */
export async function serve(about: About, open: (header: Header) => Conversation): Promise<void> {
  const conversations = new Map<string, Conversation>();

  function answer(request: any): object {
    const name: string = request.conversation;
    if (request.cmd === "start") return { protocol: 1, language: "typescript", ...about };
    if (request.cmd === "stop") return {};
    if (request.cmd === "open") {
      conversations.set(name, open(request.header));
      return {};
    }
    const conversation = conversations.get(name);
    if (!conversation) return { error: { message: `no conversation ${name} is open` } };
    let frame: number | undefined;
    try {
      if (request.cmd === "close") {
        conversations.delete(name);
        return { events: conversation.close() };
      }
      const events = [];
      for (const each of request.frames as Frame[]) {
        frame = each.seq;
        events.push(conversation.feed(each));
      }
      return { events };
    } catch (error) {
      // It ends this conversation alone.
      console.error(error);
      conversations.delete(name);
      return { error: { message: String(error), frame } };
    }
  }

  // Split at line feeds alone: node:readline would split at U+2028, too.
  let read = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) {
    read += chunk;
    if (!chunk.includes("\n")) continue;
    const lines = read.split("\n");
    read = lines.pop() ?? "";
    for (const line of lines) {
      const request = JSON.parse(line);
      process.stdout.write(`${JSON.stringify({ id: request.id, ...answer(request) })}\n`);
      if (request.cmd === "stop") return;
    }
  }
}
