import type { Clock } from "../../base/time/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { Throttle } from "../../base/turns/throttle.ts";
import { idsOf, unknownUser, type RequestContext } from "../request/context.ts";
import { isConnection, isSubscription } from "../request/facts.ts";
import { loggedPath, type RequestObserver } from "./access-log.ts";

/** Duration above which a request is logged, in milliseconds, as in the reference. */
const slowMs = 500;
/** Logged requests per second; the next entry has the number of those that were left out. */
const rate = { perSecond: 5, burst: 20 };

/**
 * Returns an observer that logs each slow request with the steps in which the time went. Watches and connections are left out, because
 * their clients choose how long they take.
 *
 * @param nowMs the clock of {@link RequestContext.startMs}
 */
export function slowRequestLog(log: Logger, clock: Clock, nowMs: () => number): RequestObserver {
  const throttle = new Throttle(rate, clock);
  let omitted = 0;
  return (request) => {
    const durationMs = nowMs() - request.startMs;
    if (durationMs < slowMs || isLongRunning(request)) return;
    if (throttle.takeToken() > 0) {
      omitted++;
      return;
    }
    const { exchange, user } = request;
    log.info(
      {
        method: exchange.method,
        path: loggedPath(exchange.url.split("?", 1)[0]!),
        user: user === unknownUser ? undefined : user.name,
        status: exchange.status,
        durationMs: Math.round(durationMs),
        ...stepsOf(request),
        ...(omitted === 0 ? {} : { omitted }),
        ...idsOf(request),
      },
      "slow request",
    );
    omitted = 0;
  };
}

/** The fields of the steps, such as `authorizationMs`; each call of a webhook has its name. */
function stepsOf({ steps }: RequestContext): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  const webhooksMs: Record<string, number> = {};
  for (const [step, durationMs] of steps ?? []) {
    const rounded = Math.round(durationMs);
    if (step.startsWith(webhookPrefix)) webhooksMs[step.slice(webhookPrefix.length)] = rounded;
    else fields[`${fieldNames[step] ?? camelCase(step)}Ms`] = rounded;
  }
  return Object.keys(webhooksMs).length === 0 ? fields : { ...fields, webhooksMs };
}

const webhookPrefix = "webhook ";

/** The stages that wait for other requests. */
const fieldNames: Readonly<Record<string, string>> = { Limits: "queue", Turn: "turn" };

function camelCase(step: string): string {
  const [first = "", ...rest] = step.toLowerCase().split(" ");
  return first + rest.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join("");
}

function isLongRunning({ facts }: RequestContext): boolean {
  return (
    isSubscription(facts) || (facts.kind === "resource" && (facts.verb === "watch" || isConnection(facts)))
  );
}
