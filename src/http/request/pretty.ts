import type { HttpExchange } from "../transport/http-exchange.ts";
import type { Query } from "./facts.ts";

/** Values of `pretty` that mean true; all others except the empty one mean false. */
const affirmative: ReadonlySet<string> = new Set(["1", "t", "T", "true", "TRUE", "True"]);

/** Prefixes of the User-Agent of programs that show responses to users. */
const readers = ["curl", "Wget", "Mozilla/5.0"];

/** Whether JSON is formatted for reading: by the parameter `pretty`; if it is missing or empty, for browsers, curl and Wget. */
export function wantsPretty(exchange: HttpExchange, query: Query): boolean {
  const requested = query.empty ? "" : (query.get("pretty") ?? "");
  if (requested !== "") return affirmative.has(requested);
  const agent = exchange.header("user-agent") ?? "";
  return readers.some((reader) => agent.startsWith(reader));
}
