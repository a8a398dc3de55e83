import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { UserInfo } from "../../base/user-info.ts";
import { parseTraceContext, type TraceContext } from "../../base/tracing/trace-context.ts";
import { boundedText, newSpanId, newTraceId, Trace, type AttributeValue } from "../../base/tracing/trace.ts";
import type { ActiveSpan, Tracer } from "../../base/tracing/tracer.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { HttpExchange } from "../transport/http-exchange.ts";
import { unknownUser, type RequestContext, type TraceHooks } from "./context.ts";
import type { RequestFacts } from "./facts.ts";

/** How requests are traced. */
export interface RequestTracing {
  readonly tracer: Tracer;
  readonly clock: Clock;
  /** Part of the requests that are traced, from 0 to 1. */
  readonly ratio: number;
  /** Whether the trace of this caller is continued, with its decision about sampling; otherwise a new trace has a link to it. */
  trusts(caller: UserInfo): boolean;
  /** Receives a completed trace, which is empty when the call has returned. */
  finished(trace: Trace): void;
}

/** A stage before the decision whether the request is traced. */
interface EarlyStage {
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly failed: boolean;
}

const httpInternalError = 500;

/** Stages that always have a span; others have one if they take some time. */
const alwaysRecorded = new Set(["Authentication", "Authorization", "Verb"]);

/**
 * The trace of one request. Whether it is traced is decided when the caller is authenticated, because the trace of some callers is
 * continued; spans of earlier stages are added then.
 */
export class RequestTrace implements TraceHooks {
  private readonly startMs: number;
  private early: EarlyStage[] | undefined = [];
  private root: ActiveSpan | undefined;
  private parentId = "";

  constructor(
    private readonly tracing: RequestTracing,
    private readonly exchange: HttpExchange,
  ) {
    this.startMs = tracing.clock.monotonicNow();
  }

  /** Id of the trace; undefined if the request isn't traced. */
  get traceId(): string | undefined {
    return this.root?.trace.traceId;
  }

  /** A short stage without other spans has no span of its own, unless it is always recorded. */
  stage(name: string, request: RequestContext, run: () => MaybePromise<void>): MaybePromise<void> {
    const always = alwaysRecorded.has(name);
    if (this.early !== undefined && request.caller !== unknownUser) this.decide(request.caller);
    if (this.early !== undefined) return this.earlyStage(name, always, this.early, run);
    if (this.root === undefined) return run();
    return this.tracing.tracer.spanOf(this.root, name, { minimumMs: always ? 0 : shortStageMs }, run);
  }

  wait(name: string): () => void {
    const { root } = this;
    if (root === undefined) return () => undefined;
    const startMs = root.trace.now();
    return () => {
      const endMs = root.trace.now();
      if (endMs - startMs >= shortStageMs) this.add(root, { name, startMs, endMs, failed: false });
    };
  }

  outside<T>(work: () => T): T {
    return this.tracing.tracer.outside(work);
  }

  end(request: RequestContext): void {
    if (this.early !== undefined) this.decide(request.caller);
    const { root, parentId, startMs, tracing } = this;
    if (root === undefined) return;
    const { exchange, served, facts } = request;
    const code = exchange.status === 0 ? 200 : exchange.status;
    root.trace.end({
      name: served ? `${exchange.method} ${routeOf(facts)}` : boundedText(exchange.method),
      kind: "server",
      spanId: root.spanId,
      parentId,
      startMs,
      endMs: root.trace.now(),
      attributes: attributesOf(request, code, root.trace.dropped),
      error: code >= httpInternalError ? String(code) : undefined,
    });
    tracing.finished(root.trace);
    root.trace.clear();
  }

  private earlyStage(
    name: string,
    always: boolean,
    early: EarlyStage[],
    run: () => MaybePromise<void>,
  ): MaybePromise<void> {
    const { clock } = this.tracing;
    const startMs = clock.monotonicNow();
    const end = (failed: boolean): void => {
      const endMs = clock.monotonicNow();
      if (always || failed || endMs - startMs >= shortStageMs) early.push({ name, startMs, endMs, failed });
    };
    const fail = (error: unknown): never => {
      end(true);
      throw error;
    };
    try {
      const done = run();
      if (done instanceof Promise) return done.then(() => end(false), fail);
      end(false);
    } catch (error) {
      fail(error);
    }
  }

  /** Decides whether the request is traced. */
  private decide(caller: UserInfo): void {
    const early = this.early ?? [];
    this.early = undefined;
    const { exchange, tracing } = this;
    const context = parseTraceContext(exchange.header("traceparent"), exchange.header("tracestate"));
    const parent = context !== undefined && tracing.trusts(caller) ? context : undefined;
    const sampled = parent?.sampled ?? (tracing.ratio > 0 && Math.random() < tracing.ratio);
    if (!sampled) return;
    this.root = { trace: this.newTrace(parent, context), spanId: newSpanId() };
    this.parentId = parent?.spanId ?? "";
    for (const stage of early) this.add(this.root, stage);
  }

  private newTrace(parent: TraceContext | undefined, context: TraceContext | undefined): Trace {
    const { clock } = this.tracing;
    if (parent !== undefined) return new Trace(parent.traceId, parent.state, undefined, clock);
    return new Trace(newTraceId(), "", context, clock);
  }

  private add({ trace, spanId: parentId }: ActiveSpan, { name, startMs, endMs, failed }: EarlyStage): void {
    const error = failed ? "failed" : undefined;
    const kind = "internal";
    trace.add({ name, kind, spanId: newSpanId(), parentId, startMs, endMs, attributes: {}, error });
  }
}

/** Duration below which a stage has no span, in milliseconds. */
const shortStageMs = 1;

/** The path with placeholders for names, as in the reference. */
function routeOf(facts: RequestFacts): string {
  if (facts.kind === "path") return boundedText(facts.path);
  const { group, version, namespace, resource, name, subresource } = facts;
  const prefix = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const inNamespace = namespace === "" || resource === "namespaces" ? "" : "/namespaces/{:namespace}";
  const object = name === "" ? "" : "/{:name}";
  return `${prefix}${inNamespace}/${resource}${object}${subresource === "" ? "" : `/${subresource}`}`;
}

/** The attributes of a request; no query, which may be secret, and no text of a path that isn't served. */
function attributesOf(
  { exchange, facts, served }: RequestContext,
  code: number,
  droppedSpans: number,
): Record<string, AttributeValue> {
  const userAgent = exchange.header("user-agent");
  return {
    "http.request.method": boundedText(exchange.method),
    "http.response.status_code": code,
    "audit-id": boundedText(exchange.auditId),
    ...(served ? { "http.route": routeOf(facts) } : {}),
    ...(userAgent === undefined ? {} : { "user_agent.original": boundedText(userAgent) }),
    ...(served && facts.kind === "resource" ? resourceAttributes(facts) : {}),
    ...(droppedSpans === 0 ? {} : { "spans.dropped": droppedSpans }),
  };
}

function resourceAttributes(
  facts: Extract<RequestFacts, { kind: "resource" }>,
): Record<string, AttributeValue> {
  const { verb, group, version, resource, subresource, namespace, name } = facts;
  const named = { verb, group, version, resource, subresource, namespace, name };
  return Object.fromEntries(
    Object.entries(named).flatMap(([key, value]) =>
      value === "" ? [] : [[`api.${key}`, boundedText(value)]],
    ),
  );
}
