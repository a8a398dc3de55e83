import type { IncomingMessage } from "node:http";
import { Watching, type Api, type AskOptions, type Frame } from "../support/api.ts";

/** One message of a subscription. */
export interface Message extends Frame {
  readonly watch: number;
  readonly resource: string;
  readonly resumeAfter?: string;
  readonly initialEventsEnd?: boolean;
}

/** Path of a subscription. @param watches values of the parameter `watch`. */
export function subscriptionPath(
  watches: readonly string[],
  parameters: Record<string, string> = {},
): string {
  const query = new URLSearchParams([
    ...watches.map((one): [string, string] => ["watch", one]),
    ...Object.entries(parameters),
  ]);
  return `/subscriptions?${query}`;
}

/** Starts a subscription in JSON lines. */
export async function subscribe(
  api: Api,
  watches: readonly string[],
  parameters: Record<string, string> = {},
  options: AskOptions = {},
): Promise<Subscribed> {
  return new Subscribed(await api.open("GET", subscriptionPath(watches, parameters), options));
}

/** How long a test waits for one message, in milliseconds. */
const limitMs = 10_000;

/** A subscription in JSON lines. */
export class Subscribed extends Watching {
  constructor(response: IncomingMessage) {
    super(response, limitMs);
  }

  override next(): Promise<Message> {
    return super.next() as Promise<Message>;
  }

  /** The messages of the initial state, with its bookmark. */
  async state(): Promise<Message[]> {
    return (await this.through((one) => (one as Message).initialEventsEnd === true)) as Message[];
  }

  async messages(count: number): Promise<Message[]> {
    const all: Message[] = [];
    while (all.length < count) all.push(await this.next());
    return all;
  }
}

/** Message as text: type, watch and name. */
export const shown = ({ type, watch, object }: Message) => `${type} ${watch} ${object.metadata.name}`;

/** One server-sent event, as the specification of HTML dispatches it. */
export interface SentEvent {
  readonly event: string;
  readonly data: string;
  readonly lastEventId: string;
}

/** Reads server-sent events by the algorithm of the HTML specification (section 9.2.6). */
export class EventReader {
  readonly events: SentEvent[] = [];
  readonly comments: string[] = [];
  private rest = "";
  private event = "";
  private data: string[] = [];
  private lastEventId = "";

  constructor(private readonly response: IncomingMessage) {
    response.setEncoding("utf8");
    response.on("data", (text: string) => {
      const lines = (this.rest + text).split(/\r\n|\n|\r/);
      this.rest = lines.pop()!;
      for (const line of lines) this.line(line);
    });
    response.on("error", () => undefined);
  }

  close(): void {
    this.response.destroy();
  }

  private line(line: string): void {
    if (line === "") return this.dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) return void this.comments.push(line.slice(1));
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.event = value;
    else if (field === "data") this.data.push(value);
    else if (field === "id" && !value.includes("\0")) this.lastEventId = value;
  }

  private dispatch(): void {
    const { event, data, lastEventId } = this;
    this.event = "";
    this.data = [];
    if (data.length === 0) return;
    this.events.push({ event: event === "" ? "message" : event, data: data.join("\n"), lastEventId });
  }
}
