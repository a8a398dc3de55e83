import type { FuzzRequest } from "./request.ts";
import type { FuzzResponse } from "./client.ts";

/** Documented answers above 499: not implemented, a bad or missing backend, a wait that took too long, a full store. */
const allowed = new Set([501, 502, 503, 504, 507]);

/** Returns what is wrong with a response; undefined if nothing is. */
export function responseFault(request: FuzzRequest, response: FuzzResponse): string | undefined {
  const { status, contentType, body } = response;
  if (status === undefined) return undefined;
  if (status >= 500 && !allowed.has(status)) return `status ${status}: ${body.toString("utf8", 0, 500)}`;
  if (request.method === "HEAD" || request.manner !== "plain") return undefined;
  if (!contentType.startsWith("application/json")) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(body.toString("utf8"));
  } catch {
    return `status ${status}, and the body isn't JSON: ${body.toString("utf8", 0, 200)}`;
  }
  return status >= 400 && /^\/apis?\//.test(request.path) ? statusFault(status, value) : undefined;
}

function statusFault(status: number, value: unknown): string | undefined {
  const {
    kind,
    apiVersion,
    status: outcome,
    code,
    reason,
    message,
    metadata,
  } = value as Record<string, unknown>;
  const isStatus =
    kind === "Status" &&
    apiVersion === "v1" &&
    outcome === "Failure" &&
    code === status &&
    typeof reason === "string" &&
    typeof message === "string" &&
    message !== "" &&
    typeof metadata === "object";
  return isStatus
    ? undefined
    : `status ${status}, and the body isn't a Status of it: ${JSON.stringify(value).slice(0, 300)}`;
}
