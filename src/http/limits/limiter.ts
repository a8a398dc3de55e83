import type { UserInfo } from "../../base/user-info.ts";
import { connectingSubresources } from "../../kinds/connecting-subresources.ts";
import type { Course } from "../metrics/request-metrics.ts";
import type { RequestFacts } from "../request-facts.ts";

/** Decides whether there is room for a request. */
export interface RequestLimiter {
  /**
   * Takes a request in: the course is given the ticket that is released at its end. A promise only where it must wait.
   * A request that gave its seat back on the way may be taken in again.
   *
   * @throws {StatusError} TooManyRequests.
   */
  enter(course: Course, facts: RequestFacts, user: UserInfo): Promise<void> | undefined;
}

/** Whether a request goes on until somebody ends it, but for watches. */
export function isConnection(facts: RequestFacts): boolean {
  return (
    facts.kind === "resource" && facts.subresource !== "" && connectingSubresources.has(facts.subresource)
  );
}
