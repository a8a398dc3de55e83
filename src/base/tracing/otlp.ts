import { traceHeaders, type TraceContext } from "./trace-context.ts";
import { spanKinds, type AttributeValue, type Attributes, type Span, type Trace } from "./trace.ts";

/** Status of a span that failed. */
const statusError = 2;

/** Encodes the spans of a trace as the elements of `spans` of an OTLP request in JSON, separated by commas. */
export function encodeSpans(trace: Trace): string {
  return trace.spans.map((span) => JSON.stringify(encodeSpan(trace, span))).join(",");
}

/** Encodes an OTLP request with encoded spans. */
export function encodeRequest(resource: Attributes, spans: readonly string[]): string {
  const attributes = JSON.stringify(encodeAttributes(resource));
  const scope = JSON.stringify({ name: "plinth" });
  const scopeSpans = `{"scope":${scope},"spans":[${spans.join(",")}]}`;
  return `{"resourceSpans":[{"resource":{"attributes":${attributes}},"scopeSpans":[${scopeSpans}]}]}`;
}

function encodeSpan(trace: Trace, span: Span): object {
  const { name, kind, spanId, parentId, startMs, endMs, attributes, error } = span;
  return {
    traceId: trace.traceId,
    spanId,
    ...(trace.state === "" ? {} : { traceState: trace.state }),
    ...(parentId === "" ? {} : { parentSpanId: parentId }),
    name,
    kind: spanKinds[kind],
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs),
    attributes: encodeAttributes(attributes),
    ...(kind === "server" && trace.link !== undefined ? { links: [encodeLink(trace.link)] } : {}),
    ...(error === undefined ? {} : { status: { code: statusError, message: error } }),
  };
}

function encodeLink(link: TraceContext): object {
  const { traceId, spanId } = link;
  const { tracestate } = traceHeaders(link);
  return { traceId, spanId, ...(tracestate === undefined ? {} : { traceState: tracestate }) };
}

function encodeAttributes(attributes: Attributes): object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: encodeValue(value) }));
}

/** Integers are texts in the JSON form of OTLP. */
function encodeValue(value: AttributeValue): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** Microseconds are the resolution of the clocks. */
function nanoseconds(ms: number): string {
  return `${Math.round(ms * 1000)}000`;
}
