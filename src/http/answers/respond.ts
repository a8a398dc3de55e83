import type { StatusError } from "../../base/status-error.ts";
import type { HttpExchange } from "../transport/http-exchange.ts";
import type { HeaderLines } from "../transport/header-lines.ts";
import { cborCodec } from "../../base/cbor/codec.ts";
import { encodePretty } from "../../base/json/encode.ts";
import type { JsonValue } from "../../base/json/value.ts";
import { plainYaml } from "../encodings/plain-yaml.ts";
import { binaryStatus } from "../encodings/protobuf.ts";
import type { RequestContext } from "../request/context.ts";
import { negotiate, type Format } from "../request/negotiation.ts";
import { wantsPretty } from "../request/pretty.ts";
import { failureStatus } from "./status.ts";
import { htmlMediaType, wantsWelcomePage, welcomePage } from "./welcome-page.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/** Responses depend on the caller and must not be cached. */
const privateNow = ["Cache-Control", "no-cache, private"] as const;

const jsonHeaders: HeaderLines = ["Content-Type", "application/json", ...privateNow];

/** Returns the headers of a response with this content type. */
export function headersFor(contentType: string, warnings: Iterable<string> = noWarnings): HeaderLines {
  const texts = [...warnings];
  if (contentType === "application/json" && texts.length === 0) return jsonHeaders;
  const lines: string[] = ["Content-Type", contentType, ...privateNow];
  return texts.length === 0 ? lines : [...lines, ...warningLines(texts)];
}

/**
 * Returns the headers of warnings, limited to what clients accept as header size. Warnings are truncated only if their
 * total is too long.
 */
export function warningLines(warnings: readonly string[]): string[] {
  const lines: string[] = [];
  const total = warnings.reduce((sum, warning) => sum + warning.length, 0);
  const longest = total > maxWarningsLength ? maxWarningLength : maxWarningsLength;
  let length = 0;
  for (const [index, warning] of warnings.entries()) {
    const text = quoted(warning.slice(0, longest));
    length += text.length;
    if (index === maxWarnings || length > maxWarningsLength) {
      lines.push("Warning", `299 - "${warnings.length - index} more warnings are left out"`);
      break;
    }
    lines.push("Warning", `299 - ${text}`);
  }
  return lines;
}

const noWarnings: readonly string[] = [];

/** Maximum number of warnings of a response, and maximum total number of characters. */
const maxWarnings = 100;
const maxWarningsLength = 4096;
/** Maximum length of a warning if the total is too long. */
const maxWarningLength = 256;

/** Returns a warning's text as a quoted string for a header (RFC 7234 section 5.5). */
function quoted(text: string): string {
  const plain = text.replaceAll(/[^\x20-\x7e]/g, "?");
  return `"${plain.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

/** Sends a JSON value. */
export function sendJson(
  exchange: HttpExchange,
  status: number,
  value: object,
  warnings?: readonly string[],
): void {
  exchange.send(status, headersFor("application/json", warnings), Buffer.from(`${JSON.stringify(value)}\n`));
}

/** Sends a small document in YAML. */
export function sendYaml(exchange: HttpExchange, value: object): void {
  exchange.send(200, headersFor("application/yaml"), Buffer.from(plainYaml(value as JsonValue)));
}

/** Sends plain text. */
export function sendText(exchange: HttpExchange, status: number, text: string): void {
  const headers = [
    "Content-Type",
    "text/plain; charset=utf-8",
    "X-Content-Type-Options",
    "nosniff",
    ...privateNow,
  ];
  exchange.send(status, headers, Buffer.from(text));
}

/** Sends a Status, in protobuf or YAML if the client prefers that. */
export function sendStatus(
  request: RequestContext,
  vocabulary: Vocabulary,
  code: number,
  status: object,
  further: HeaderLines = [],
): void {
  const { exchange } = request;
  request.audit?.responseStatus(code, status);
  const { contentType, bytes } = wantsWelcomePage(request)
    ? { contentType: htmlMediaType, bytes: welcomePage(vocabulary, code) }
    : formed(request, vocabulary, status);
  exchange.send(code, [...headersFor(contentType, request.warnings), ...further], bytes);
}

/** Returns a Status in the preferred format of the client; JSON if none of its formats is available. */
function formed(
  { exchange, facts }: RequestContext,
  vocabulary: Vocabulary,
  status: object,
): { readonly contentType: string; readonly bytes: Buffer } {
  switch (preferredFormat(exchange, vocabulary)) {
    case "protobuf":
      return { contentType: vocabulary.protobufMediaType, bytes: binaryStatus(status) };
    case "cbor":
      return { contentType: "application/cbor", bytes: cborCodec().encodeCbor(status as JsonValue) };
    case "yaml":
      return { contentType: "application/yaml", bytes: Buffer.from(plainYaml(status as JsonValue)) };
    case "json": {
      const text = wantsPretty(exchange, facts.query)
        ? encodePretty(status as JsonValue)
        : `${JSON.stringify(status)}\n`;
      return { contentType: "application/json", bytes: Buffer.from(text) };
    }
  }
}

/** Sends the Status of a failure with its headers. */
export function sendFailure(request: RequestContext, vocabulary: Vocabulary, error: StatusError): void {
  const further: string[] = [];
  const retry = error.details?.retryAfterSeconds;
  if (retry !== undefined && retry > 0) further.push("Retry-After", String(retry));
  if (error.code === 401) further.push("WWW-Authenticate", 'Bearer realm="api"');
  sendStatus(request, vocabulary, error.code, failureStatus(error, vocabulary), further);
}

/** Returns the preferred format of a Status; JSON for an Accept header that can't be satisfied. */
function preferredFormat(exchange: HttpExchange, vocabulary: Vocabulary): Format {
  const accept = exchange.header("accept");
  if (accept === undefined || accept === "" || accept === "application/json") return "json";
  try {
    return negotiate(accept, vocabulary).format;
  } catch {
    return "json";
  }
}
