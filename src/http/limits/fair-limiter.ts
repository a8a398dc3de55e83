import type { UserInfo } from "../../base/user-info.ts";
import type { FlowControl } from "../../flow/flow-control.ts";
import type { Ticket } from "../../flow/ticket.ts";
import { WithHeaders } from "../extra-headers.ts";
import type { Course } from "../metrics/request-metrics.ts";
import type { RequestFacts } from "../request-facts.ts";
import type { ListWidths } from "./list-widths.ts";
import { isConnection, type RequestLimiter } from "./limiter.ts";

/** Limits by priority and fairness. Every answer tells which schema and level the request had. */
export class FairLimiter implements RequestLimiter {
  constructor(
    private readonly control: FlowControl,
    private readonly widths: ListWidths,
  ) {}

  /** See {@link RequestLimiter.enter}. A watch gives its seats back when it has begun, as any other request. */
  enter(course: Course, facts: RequestFacts, user: UserInfo): Promise<void> | undefined {
    if (isConnection(facts)) return undefined;
    const use = this.control.classify(facts, user);
    const { exchange } = course;
    if (use.headers.length > 0) course.exchange = new WithHeaders(exchange, use.headers);
    const seats = facts.verb === "list" ? this.widths.seats(facts) : 1;
    const ticket = this.control.enter(use, seats, facts, user, exchange);
    if (ticket instanceof Promise) return ticket.then((given) => this.give(course, given));
    course.ticket = ticket;
    return undefined;
  }

  private give(course: Course, ticket: Ticket): void {
    course.ticket = ticket;
  }
}
