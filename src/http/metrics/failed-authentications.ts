import type { Clock } from "../../base/time/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { Throttle } from "../../base/turns/throttle.ts";
import { idsOf, type RequestContext } from "../request/context.ts";
import { loggedPath } from "./access-log.ts";

/** Entries per second; the next entry has the number of those that were left out. */
const rate = { perSecond: 5, burst: 20 };

/** Logs why the credentials of a request were rejected. */
export type FailedAuthenticationLog = (request: RequestContext, reason: string) => void;

/** Returns the log of rejected credentials. Anybody can cause an entry, so their rate is limited. */
export function failedAuthenticationLog(log: Logger, clock: Clock): FailedAuthenticationLog {
  const throttle = new Throttle(rate, clock);
  let omitted = 0;
  return (request, reason) => {
    if (throttle.takeToken() > 0) {
      omitted++;
      return;
    }
    const { exchange } = request;
    log.warn(
      {
        method: exchange.method,
        path: loggedPath(exchange.url.split("?", 1)[0]!),
        remoteAddress: exchange.connection.remoteAddress,
        reason,
        ...(omitted === 0 ? {} : { omitted }),
        ...idsOf(request),
      },
      "authentication failed",
    );
    omitted = 0;
  };
}
