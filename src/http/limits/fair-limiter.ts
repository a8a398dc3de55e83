import type { FlowControl } from "../../flow/flow-control.ts";
import type { Ticket } from "../../flow/request.ts";
import { changeWidth, ordinary, type Width } from "../../flow/width.ts";
import type { RequestContext, RequestLimiter } from "../request/context.ts";
import { isConnection, type RequestFacts, type ResourceFacts } from "../request/facts.ts";
import type { ListWidths } from "./list-widths.ts";
import type { WatchCounts } from "./watch-counts.ts";

/** Limits requests by priority and fairness. Response headers name the flow schema and the priority level. */
export class FairLimiter implements RequestLimiter {
  constructor(
    private readonly control: FlowControl,
    private readonly lists: ListWidths,
    private readonly watches: WatchCounts,
  ) {}

  /** See {@link RequestLimiter.enter}. A watch releases its seats when its initial state is sent. */
  enter(request: RequestContext): Promise<void> | undefined {
    const { exchange, facts, user } = request;
    const use = this.control.classify(facts, user);
    exchange.exempt = use.level.exempt;
    if (isConnection(facts)) return undefined;
    if (!request.limited && use.headers.length > 0) exchange.addHeaders(use.headers);
    request.limited = true;
    const ticket = this.control.enter(use, this.widthOf(facts), facts, user, exchange);
    if (ticket instanceof Promise) return ticket.then((given) => this.give(request, given));
    request.ticket = ticket;
    return undefined;
  }

  private widthOf(facts: RequestFacts): Width {
    if (facts.kind === "path") return ordinary;
    switch (facts.verb) {
      case "list":
        return this.lists.width(facts);
      case "create":
      case "update":
      case "patch":
      case "delete":
        return makesToken(facts) ? ordinary : changeWidth(this.watches.interested(facts));
      default:
        return ordinary;
    }
  }

  private give(request: RequestContext, ticket: Ticket): void {
    request.ticket = ticket;
  }
}

/** Whether a request creates a service account token, which changes no watched object. */
function makesToken({ resource, subresource }: ResourceFacts): boolean {
  return subresource === "token" && resource === "serviceaccounts";
}
