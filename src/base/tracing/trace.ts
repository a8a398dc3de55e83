import { randomBytes } from "node:crypto";
import type { Clock } from "../time/clock.ts";
import type { TraceContext } from "./trace-context.ts";

/** A value of an attribute; texts are cut off at {@link maxTextLength}. */
export type AttributeValue = string | number | boolean;
export type Attributes = Readonly<Record<string, AttributeValue>>;

/** Kinds of spans, with their numbers in OTLP. */
export const spanKinds = { internal: 1, server: 2, client: 3 } as const;
export type SpanKind = keyof typeof spanKinds;

/** A completed operation of a trace. */
export interface Span {
  readonly name: string;
  readonly kind: SpanKind;
  readonly spanId: string;
  /** Empty for a root. */
  readonly parentId: string;
  /** Milliseconds since 1970, with fractions. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  /** Why the operation failed; undefined if it succeeded. */
  readonly error: string | undefined;
}

/** Spans of one request that are kept; a list of many pages would have any number. */
const maxSpans = 128;
const maxTextLength = 256;

/** The spans of one request. */
export class Trace {
  readonly spans: Span[] = [];
  /** Spans that exceeded the maximum number. */
  dropped = 0;
  private ended = false;
  private readonly startMs: number;
  private readonly monotonicStartMs: number;

  /** @param link a context that the request had, but which the server doesn't continue. */
  constructor(
    readonly traceId: string,
    readonly state: string,
    readonly link: TraceContext | undefined,
    private readonly clock: Clock,
  ) {
    this.startMs = clock.now();
    this.monotonicStartMs = clock.monotonicNow();
  }

  /** Whether spans are still added. */
  get open(): boolean {
    return !this.ended;
  }

  /** Adds a span; times are in milliseconds of the monotonic clock. */
  add(span: Span): void {
    if (this.ended) return;
    if (this.spans.length >= maxSpans) this.dropped++;
    else this.spans.push(this.withWallTime(span));
  }

  /** Adds the first span and completes the trace; later spans are ignored. */
  end(root: Span): void {
    if (this.ended) return;
    this.ended = true;
    const ids = new Set(this.spans.map(({ spanId }) => spanId));
    // The parent of work in the background may be unfinished or too short to be recorded.
    for (const [index, span] of this.spans.entries())
      if (!ids.has(span.parentId)) this.spans[index] = { ...span, parentId: root.spanId };
    this.spans.unshift(this.withWallTime(root));
  }

  /** Removes the spans after they were sent: a watch keeps the context of its request, and with it the trace, while it is open. */
  clear(): void {
    this.spans.length = 0;
  }

  private withWallTime(span: Span): Span {
    const { monotonicStartMs } = this;
    const shifted = (ms: number) => this.startMs + (ms - monotonicStartMs);
    return { ...span, startMs: shifted(span.startMs), endMs: shifted(span.endMs) };
  }

  /** The current time of the monotonic clock, in milliseconds. */
  now(): number {
    return this.clock.monotonicNow();
  }
}

/** Returns a new id of a trace. */
export function newTraceId(): string {
  return randomBytes(16).toString("hex");
}

/** Returns a new id of a span. */
export function newSpanId(): string {
  return randomBytes(8).toString("hex");
}

/** Cuts off a text that a client may have chosen. */
export function boundedText(text: string): string {
  return text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength)}…`;
}
