/** The position of a caller in a trace, as the headers `traceparent` and `tracestate` have it (W3C Trace Context). */
export interface TraceContext {
  /** 32 hexadecimal digits in lower case. */
  readonly traceId: string;
  /** Span of the caller: 16 hexadecimal digits in lower case. */
  readonly spanId: string;
  readonly sampled: boolean;
  /** The value of `tracestate`, which is passed on unchanged; empty if there is none or it is invalid. */
  readonly state: string;
}

const parentForm = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** Longest `traceparent` that is parsed; later versions may be longer than version 00 (55 characters). */
const maxParentLength = 256;
/** Maximum length of a `tracestate`, as the specification requires to support; longer ones are dropped. */
const maxStateLength = 512;
const sampledFlag = 1;

/**
 * Parses the headers of a request.
 *
 * @returns undefined if there is no `traceparent` or it is invalid; then a new trace begins.
 */
export function parseTraceContext(
  parent: string | undefined,
  state: string | undefined,
): TraceContext | undefined {
  if (parent === undefined || parent.length > maxParentLength) return undefined;
  const match = parentForm.exec(parent);
  if (match === null) return undefined;
  const [, version, traceId = "", spanId = "", flags = "", more] = match;
  if (version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (isZero(traceId) || isZero(spanId)) return undefined;
  const sampled = (Number.parseInt(flags, 16) & sampledFlag) === sampledFlag;
  return { traceId, spanId, sampled, state: validState(state) };
}

/** Returns the headers of a request that the server sends as a part of a trace. */
export function traceHeaders({ traceId, spanId, sampled, state }: TraceContext): Record<string, string> {
  const traceparent = `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`;
  return state === "" ? { traceparent } : { traceparent, tracestate: state };
}

/** A value that can't be a header line, or is too long, is dropped. */
function validState(state: string | undefined): string {
  if (state === undefined || state.length > maxStateLength) return "";
  return /^[\x20-\x7e]*$/.test(state) ? state : "";
}

function isZero(digits: string): boolean {
  return /^0+$/.test(digits);
}
