import { randomUUID } from "node:crypto";
import type { HttpExchange } from "../transport/http-exchange.ts";

/**
 * The id under which a request is found in the audit: what its client gives, or a new one. As in the reference, the
 * client's is kept as it is; one that can't stand in a header or in a line of text is none.
 */
export function auditIdOf(exchange: HttpExchange): string {
  const requested = exchange.header("audit-id");
  if (requested === undefined || requested === "") return randomUUID();
  return /^[\x20-\x7e]*$/.test(requested) ? requested : randomUUID();
}
