import { randomUUID } from "node:crypto";
import type { HttpExchange } from "../transport/http-exchange.ts";

/**
 * Returns the audit id of a request: the value of its `Audit-Id` header, unchanged as in the reference, or a new one if the header is
 * missing, empty, or contains characters other than printable ASCII.
 */
export function auditIdOf(exchange: HttpExchange): string {
  const requested = exchange.header("audit-id");
  if (requested === undefined || requested === "") return randomUUID();
  return /^[\x20-\x7e]*$/.test(requested) ? requested : randomUUID();
}
