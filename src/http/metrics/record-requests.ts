import type { RequestObserver } from "./access-log.ts";
import type { RequestContext } from "../request/context.ts";
import type { RequestLog } from "./request-log.ts";

/**
 * Returns an observer that adds each request to a log.
 *
 * @param nowMs the clock of {@link RequestContext.startMs}
 */
export function recordRequests(log: RequestLog, nowMs: () => number): RequestObserver {
  return (request) => {
    const { exchange, user } = request;
    const at = exchange.url.indexOf("?");
    log.add({
      method: exchange.method,
      path: at === -1 ? exchange.url : exchange.url.slice(0, at),
      query: at === -1 ? "" : exchange.url.slice(at + 1),
      ...attributesOf(request),
      user: user.name,
      groups: user.groups,
      status: exchange.status,
      durationMs: nowMs() - request.startMs,
      userAgent: exchange.header("user-agent") ?? "",
      inProcess: false,
    });
  };
}

function attributesOf({ facts }: RequestContext) {
  if (facts.kind === "path") {
    return { verb: facts.verb, group: "", resource: "", subresource: "", namespace: "", name: "" };
  }
  const { verb, group, resource, subresource, namespace, name } = facts;
  return { verb, group, resource, subresource, namespace, name };
}

/** Returns an observer that calls those of a list; undefined if there are none. False and undefined are no observers. */
export function allObservers(
  observers: readonly (RequestObserver | false | undefined)[],
): RequestObserver | undefined {
  const present = observers.filter((one) => typeof one === "function");
  if (present.length < 2) return present[0];
  return (request) => {
    for (const observer of present) observer(request);
  };
}
