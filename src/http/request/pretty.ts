import type { HttpExchange } from "../transport/http-exchange.ts";
import type { Query } from "./facts.ts";

/** Values of `pretty` that ask for it; others, except for an empty one, refuse it. */
const affirmative: ReadonlySet<string> = new Set(["1", "t", "T", "true", "TRUE", "True"]);

/** How the User-Agent of a program begins that shows its answers to people. */
const readers = ["curl", "Wget", "Mozilla/5.0"];

/** Whether JSON is to be laid out for reading: by the parameter `pretty`, or where that says nothing, for a browser and for curl. */
export function wantsPretty(exchange: HttpExchange, query: Query): boolean {
  const requested = query.empty ? "" : (query.get("pretty") ?? "");
  if (requested !== "") return affirmative.has(requested);
  const agent = exchange.header("user-agent") ?? "";
  return readers.some((reader) => agent.startsWith(reader));
}
