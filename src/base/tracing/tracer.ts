import { AsyncLocalStorage } from "node:async_hooks";
import type { MaybePromise } from "../turns/maybe-promise.ts";
import { StatusError } from "../status-error.ts";
import type { TraceContext } from "./trace-context.ts";
import { boundedText, newSpanId, type Attributes, type SpanKind, type Trace } from "./trace.ts";

/** An operation in progress. */
export interface ActiveSpan {
  readonly trace: Trace;
  readonly spanId: string;
}

/** How a span is recorded. */
export interface SpanOptions {
  readonly attributes?: Attributes;
  /** `internal` by default. */
  readonly kind?: SpanKind;
  /** A shorter span that succeeds and has no children isn't recorded, in milliseconds; 0 by default. */
  readonly minimumMs?: number;
}

/**
 * Records spans of operations that belong to a traced request. The current span is found by the asynchronous context, so the code
 * between needn't pass it on. Without a traced request, operations only run.
 */
export class Tracer {
  private readonly active = new AsyncLocalStorage<ActiveSpan | undefined>();

  /** Runs an operation as a child of the current span. */
  span<T>(name: string, options: SpanOptions, work: (span?: ActiveSpan) => MaybePromise<T>): MaybePromise<T> {
    const parent = this.active.getStore();
    return parent?.trace.open === true ? this.spanOf(parent, name, options, work) : work();
  }

  /** As {@link span}, for a given parent. */
  spanOf<T>(
    parent: ActiveSpan,
    name: string,
    { attributes = {}, kind = "internal", minimumMs = 0 }: SpanOptions,
    work: (span?: ActiveSpan) => MaybePromise<T>,
  ): MaybePromise<T> {
    const { trace } = parent;
    const span = { trace, spanId: newSpanId() };
    const startMs = trace.now();
    const before = trace.spans.length;
    const end = (error: string | undefined): void => {
      const endMs = trace.now();
      if (error === undefined && endMs - startMs < minimumMs && trace.spans.length === before) return;
      const { spanId: parentId } = parent;
      trace.add({ name, kind, spanId: span.spanId, parentId, startMs, endMs, attributes, error });
    };
    const fail = (error: unknown): never => {
      end(errorText(error));
      throw error;
    };
    try {
      const done = this.active.run(span, () => work(span));
      if (done instanceof Promise) {
        return done.then((result: T) => {
          end(undefined);
          return result;
        }, fail);
      }
      end(undefined);
      return done;
    } catch (error) {
      return fail(error);
    }
  }

  /** Runs work that doesn't belong to the current span, such as that of other requests in the same turn. */
  outside<T>(work: () => T): T {
    return this.active.getStore() === undefined ? work() : this.active.run(undefined, work);
  }
}

/** Runs an operation, recorded if there is a tracer and a traced request. */
export function traced<T>(
  tracer: Tracer | undefined,
  name: string,
  options: SpanOptions,
  work: (span?: ActiveSpan) => MaybePromise<T>,
): MaybePromise<T> {
  return tracer === undefined ? work() : tracer.span(name, options, work);
}

/** Returns the context that is sent to a service which is called in a span. */
export function contextOf({ trace: { traceId, state }, spanId }: ActiveSpan): TraceContext {
  return { traceId, spanId, sampled: true, state };
}

/**
 * The description of an error. Messages of rejections may quote fields of objects, which may be secret, so only the reason is shown;
 * other messages aren't shown at all.
 */
function errorText(error: unknown): string {
  if (error instanceof StatusError) return error.reason;
  return boundedText(error instanceof Error ? error.name : "error");
}
