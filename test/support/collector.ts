import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A span as a collector receives it. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly {
    readonly key: string;
    readonly value: { readonly stringValue?: string; readonly intValue?: string };
  }[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status?: { readonly code: number; readonly message: string };
}

interface ReceivedRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: ReceivedSpan["attributes"] };
    readonly scopeSpans: readonly { readonly spans: readonly ReceivedSpan[] }[];
  }[];
}

/** A collector for OTLP over HTTP on loopback. */
export class Collector {
  readonly spans: ReceivedSpan[] = [];
  readonly paths: string[] = [];
  /** The bodies of all requests, of which only those are parsed that are answered by the default answer. */
  readonly texts: string[] = [];
  resource: ReceivedSpan["attributes"] = [];
  /** Answers a request; by default the spans are accepted. */
  answer: (response: ServerResponse, number: number) => void = (response) => this.accept(response);
  private readonly waiting = new Set<() => void>();
  private readonly server: Server;

  private constructor() {
    this.server = createServer((request, response) => {
      this.serve(request, response).catch((error: Error) => response.destroy(error));
    });
  }

  static async start(): Promise<Collector> {
    const collector = new Collector();
    await new Promise<void>((resolve) => collector.server.listen(0, "127.0.0.1", resolve));
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Resolves when so many requests have arrived. */
  async requests(count: number): Promise<void> {
    while (this.texts.length < count) await new Promise<void>((resolve) => this.waiting.add(resolve));
  }

  accept(response: ServerResponse): void {
    const { resourceSpans } = JSON.parse(this.texts.at(-1)!) as ReceivedRequest;
    for (const { resource, scopeSpans } of resourceSpans) {
      this.resource = resource.attributes;
      for (const { spans } of scopeSpans) this.spans.push(...spans);
    }
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    this.paths.push(`${request.method} ${request.url}`);
    this.texts.push(Buffer.concat(chunks).toString("utf8"));
    for (const wake of this.waiting) wake();
    this.waiting.clear();
    this.answer(response, this.texts.length);
  }
}

/** The attributes of a span, as texts. */
export function attributesOf({ attributes }: Pick<ReceivedSpan, "attributes">): Record<string, string> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? ""]),
  );
}
