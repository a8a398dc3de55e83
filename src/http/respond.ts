import type { StatusError } from "../base/status-error.ts";
import type { Exchange, HeaderLines } from "./exchange.ts";
import { failureStatus } from "./status.ts";

/** Answers are private to the caller and true only now. */
const privateNow = ["Cache-Control", "no-cache, private"] as const;

const jsonHeaders: HeaderLines = ["Content-Type", "application/json", ...privateNow];

/** Headers of an answer with this content type. */
export function headersFor(contentType: string, warnings: readonly string[] = noWarnings): HeaderLines {
  if (contentType === "application/json" && warnings.length === 0) return jsonHeaders;
  const lines: string[] = ["Content-Type", contentType, ...privateNow];
  for (const warning of warnings) lines.push("Warning", `299 - ${quoted(warning)}`);
  return lines;
}

const noWarnings: readonly string[] = [];

/** The most characters of one warning. */
const maxWarningLength = 256;

/** A warning's text as a quoted string that may stand in a header (RFC 7234 section 5.5). */
function quoted(text: string): string {
  const plain = text.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, maxWarningLength);
  return `"${plain.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

/** Answers with a JSON value. */
export function sendJson(
  exchange: Exchange,
  status: number,
  value: object,
  warnings?: readonly string[],
): void {
  exchange.send(status, headersFor("application/json", warnings), Buffer.from(`${JSON.stringify(value)}\n`));
}

/** Answers with plain text. */
export function sendText(exchange: Exchange, status: number, text: string): void {
  const headers = [
    "Content-Type",
    "text/plain; charset=utf-8",
    "X-Content-Type-Options",
    "nosniff",
    ...privateNow,
  ];
  exchange.send(status, headers, Buffer.from(text));
}

/** Answers with a failure's Status, and the headers that belong to it. */
export function sendFailure(exchange: Exchange, error: StatusError): void {
  const headers: string[] = [...jsonHeaders];
  const retry = error.details?.retryAfterSeconds;
  if (retry !== undefined) headers.push("Retry-After", String(retry));
  if (error.code === 401) headers.push("WWW-Authenticate", 'Bearer realm="api"');
  exchange.send(error.code, headers, Buffer.from(`${JSON.stringify(failureStatus(error))}\n`));
}
