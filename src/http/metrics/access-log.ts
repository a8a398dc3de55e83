import type { Logger } from "../../base/logger.ts";
import { idsOf, unknownUser, type RequestContext } from "../request/context.ts";

/** Longer paths are cut off, because clients choose them. */
const maxPathLength = 2_000;

/** Called with each request that is complete, or whose stream has started (watches, upgraded connections). */
export type RequestObserver = (request: RequestContext) => void;

/**
 * Returns an observer that logs one entry per request: method, path with query, user, status, the milliseconds until the response
 * was complete, and the ids. A request that was rejected before authentication has no user.
 *
 * @param nowMs the clock of {@link RequestContext.startMs}
 */
export function accessLog(log: Logger, nowMs: () => number): RequestObserver {
  return (request) => {
    const { exchange, user, startMs } = request;
    const { method, url, status } = exchange;
    const path = loggedPath(url);
    const durationMs = Math.round((nowMs() - startMs) * 10) / 10;
    log.info(
      {
        method,
        path,
        user: user === unknownUser ? undefined : user.name,
        status,
        durationMs,
        ...idsOf(request),
      },
      "request",
    );
  };
}

/** Returns a path for the log. The query of the console's page is left out: an OpenID provider sends the authorization code in it. */
export function loggedPath(url: string): string {
  if (url.startsWith("/console/?")) return "/console/";
  return url.length > maxPathLength ? `${url.slice(0, maxPathLength)}…` : url;
}
