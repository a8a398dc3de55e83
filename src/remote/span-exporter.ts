import type { Clock, Timer } from "../base/time/clock.ts";
import { encodeRequest, encodeSpans } from "../base/tracing/otlp.ts";
import type { Attributes, Trace } from "../base/tracing/trace.ts";
import { parseEmbeddedJson } from "../base/json/embedded.ts";
import { RemoteFault, type RemoteAnswer } from "./answer-reader.ts";
import { RemoteClient, type RemoteLimits } from "./remote-client.ts";

/** Where and how spans are sent. */
export interface SpanExporterSettings {
  /** URL of the collector for OTLP over HTTP. */
  readonly url: URL;
  /** Attributes of the server. */
  readonly resource: Attributes;
  readonly clock: Clock;
  /** Called with the reason when spans can't be delivered; may be called often. */
  readonly failed: (reason: string) => void;
}

/** Why spans were dropped: the queue is full, the collector didn't accept them, or the server stopped. */
export type DropReason = "queue_full" | "export_failed" | "rejected" | "shutdown";

/** Spans that were delivered and dropped since the start. */
export interface ExportCounts {
  exported: number;
  readonly dropped: Record<DropReason, number>;
}

const queueBytes = 8 * 1024 * 1024;
const batchBytes = 512 * 1024;
/** Time after which spans are sent, also if they don't fill a batch. */
const delayMs = 5000;
const limits: RemoteLimits = { timeoutMs: 10_000, maxAnswerBytes: 64 * 1024 };
const attempts = 5;
const firstBackoffMs = 1000;
/** Longest pause before another attempt; also caps `Retry-After`. */
const longestBackoffMs = 30_000;
/** Time for the last spans when the server stops. */
const flushMs = 3000;
const retryableStatuses = new Set([429, 502, 503, 504]);

interface EncodedTrace {
  readonly text: string;
  readonly spans: number;
}

/**
 * Sends spans to a collector by OTLP over HTTP, in JSON. Requests never wait for it: traces are queued up to a number of bytes and
 * sent in batches, one at a time; above the limit they are dropped and counted.
 */
export class SpanExporter {
  readonly counts: ExportCounts = {
    exported: 0,
    dropped: { queue_full: 0, export_failed: 0, rejected: 0, shutdown: 0 },
  };
  private queue: EncodedTrace[] = [];
  private bytes = 0;
  private timer: Timer | undefined;
  private sending: Promise<void> | undefined;
  /** Ends the pause before the next attempt. */
  private hurry: (() => void) | undefined;
  private closeAtMs: number | undefined;
  private readonly client: RemoteClient;

  constructor(private readonly settings: SpanExporterSettings) {
    this.client = new RemoteClient({}, limits, settings.clock);
  }

  /** Queues the spans of a trace. */
  add(trace: Trace): void {
    const spans = trace.spans.length;
    if (this.closeAtMs !== undefined) return this.drop("shutdown", spans);
    if (this.bytes >= queueBytes) return this.drop("queue_full", spans);
    const text = encodeSpans(trace);
    this.queue.push({ text, spans });
    this.bytes += text.length;
    if (this.sending !== undefined) return;
    if (this.bytes >= batchBytes) this.send();
    else this.timer ??= this.settings.clock.setTimer(() => this.send(), delayMs);
  }

  /** Sends the queued spans for a few seconds, and closes the connections. */
  async close(): Promise<void> {
    const { clock } = this.settings;
    this.closeAtMs ??= clock.monotonicNow() + flushMs;
    let timer: Timer | undefined;
    const late = new Promise<void>((resolve) => (timer = clock.setTimer(resolve, flushMs)));
    this.hurry?.();
    this.send();
    await Promise.race([this.sending, late]);
    timer?.cancel();
    await this.client.close();
    await this.sending;
    for (const { spans } of this.queue.splice(0)) this.drop("shutdown", spans);
  }

  private send(): void {
    this.timer?.cancel();
    this.timer = undefined;
    if (this.queue.length === 0) return;
    this.sending ??= this.sendAll().finally(() => {
      this.sending = undefined;
      if (this.queue.length > 0 && this.closeAtMs === undefined)
        this.timer ??= this.settings.clock.setTimer(() => this.send(), delayMs);
    });
  }

  /** Sends batches until less than a batch is queued; everything if the server stops. */
  private async sendAll(): Promise<void> {
    do {
      const batch = this.takeBatch();
      const spans = batch.reduce((sum, trace) => sum + trace.spans, 0);
      const texts = batch.map(({ text }) => text);
      await this.deliver(encodeRequest(this.settings.resource, texts), spans);
    } while (this.bytes >= batchBytes || (this.stops && this.queue.length > 0 && this.leftMs > 0));
  }

  private takeBatch(): EncodedTrace[] {
    let size = 0;
    let count = 0;
    while (count < this.queue.length && size < batchBytes) size += this.queue[count++]!.text.length;
    this.bytes -= size;
    return this.queue.splice(0, count);
  }

  private async deliver(body: string, spans: number): Promise<void> {
    const { url, failed } = this.settings;
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await this.post(body);
        const rejected = Math.min(rejectedSpans(answer), spans);
        this.counts.exported += spans - rejected;
        this.drop("rejected", rejected);
        if (rejected > 0) failed(`${url.origin} rejected ${rejected} spans`);
        return;
      } catch (error) {
        if (!(error instanceof RemoteFault)) throw error;
        if (!error.retryable || attempt >= attempts || this.stops) {
          this.drop(this.stops ? "shutdown" : "export_failed", spans);
          failed(error.message);
          return;
        }
        await this.pause(error.retryAfterMs ?? firstBackoffMs * 2 ** (attempt - 1));
      }
    }
  }

  private async post(body: string): Promise<RemoteAnswer> {
    const { url } = this.settings;
    const headers = { "content-type": "application/json" };
    const timeoutMs = Math.max(1, Math.min(limits.timeoutMs, this.leftMs));
    const answer = await this.client.send(url, { method: "POST", headers, body, timeoutMs });
    const { status } = answer;
    if (status >= 200 && status < 300) return answer;
    const message = `${url.origin}${url.pathname} answers with status ${status}`;
    throw new RemoteFault(message, retryableStatuses.has(status), retryAfterMs(answer));
  }

  private pause(ms: number): Promise<void> {
    return new Promise<void>((resolve) => {
      const timer = this.settings.clock.setTimer(resolve, Math.min(ms, longestBackoffMs));
      this.hurry = () => {
        timer.cancel();
        resolve();
      };
    });
  }

  private get stops(): boolean {
    return this.closeAtMs !== undefined;
  }

  /** Milliseconds until the connections are closed. */
  private get leftMs(): number {
    return this.closeAtMs === undefined ? Infinity : this.closeAtMs - this.settings.clock.monotonicNow();
  }

  private drop(reason: DropReason, spans: number): void {
    this.counts.dropped[reason] += spans;
  }
}

/** Returns the delay of the header `Retry-After` in milliseconds; undefined without a valid one. */
function retryAfterMs({ header }: RemoteAnswer): number | undefined {
  const text = header("retry-after");
  return text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) * 1000 : undefined;
}

/** Returns how many spans the collector rejected, by the field `partialSuccess` of its response. */
function rejectedSpans({ bytes }: RemoteAnswer): number {
  try {
    const answer = parseEmbeddedJson(bytes.toString("utf8")) as {
      partialSuccess?: { rejectedSpans?: unknown };
    } | null;
    const count = Number(answer?.partialSuccess?.rejectedSpans ?? 0);
    return Number.isInteger(count) && count > 0 ? count : 0;
  } catch {
    // Collectors may answer in another form; the status has accepted the spans.
    return 0;
  }
}
