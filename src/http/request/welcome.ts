import type { RequestContext } from "./context.ts";
import { parseAccept } from "./negotiation.ts";

/** Whether a request is that of a browser for `/`: its Accept header names HTML. */
export function wantsWelcomePage({ exchange, facts }: Pick<RequestContext, "exchange" | "facts">): boolean {
  if (facts.kind !== "path" || facts.path !== "/") return false;
  return parseAccept(exchange.header("accept") ?? "").some(
    ({ type, quality }) => type === "text/html" && quality > 0,
  );
}
