import type { MaybePromise } from "../base/maybe-promise.ts";
import { StatusError } from "../base/status-error.ts";
import { connectionLimits } from "./listener.ts";
import type { BodyStream, Exchange, HeaderLines } from "./exchange.ts";
import { timeoutParameter } from "./parameters.ts";
import type { Query } from "./request-facts.ts";
import { sendFailure } from "./respond.ts";
import type { HttpService } from "./service.ts";

/**
 * Serves a request within the time that its `timeout` parameter gives it, at most the server's own: then the client gets 504,
 * or what it has of the answer is cut off. The work itself goes on, and the request's seat is held until it is done: whether a
 * write took place isn't known to its client. Not for watches and connections, which may last.
 *
 * @param serve answers on the exchange that it is given.
 * @throws {StatusError} BadRequest for text that is no length of time.
 */
export function withinTimeout(
  service: Pick<HttpService, "clock" | "engine">,
  exchange: Exchange,
  query: Query,
  serve: (exchange: Exchange) => MaybePromise<void>,
): MaybePromise<void> {
  const asked = timeoutParameter(query);
  if (asked === undefined) return serve(exchange);
  const timeoutMs = Math.min(asked, connectionLimits.requestTimeoutMs);
  const answer = new TimedAnswer(exchange);
  const timer = service.clock.setTimer(() => {
    if (!answer.expire()) return;
    const error = new StatusError("Timeout", `the request did not complete within ${timeoutMs} ms`);
    sendFailure(exchange, service.engine.vocabulary, error);
  }, timeoutMs);
  return served(() => serve(answer.exchange), answer).finally(() => timer.cancel());
}

async function served(serve: () => MaybePromise<void>, answer: TimedAnswer): Promise<void> {
  try {
    await serve();
  } catch (error) {
    // The client was told that it took too long; only defects are still of interest.
    if (!answer.expired || !(error instanceof StatusError)) throw error;
  }
}

/** The answer to a request with a timeout: what comes after the timeout is dropped. */
class TimedAnswer {
  expired = false;
  /** The exchange as it was, but for answers. */
  readonly exchange: Exchange;
  private stream: BodyStream | undefined;

  constructor(private readonly inner: Exchange) {
    this.exchange = new Proxy(inner, {
      get: (target, name) => {
        if (name === "send") return this.send;
        if (name === "stream") return this.begin;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
      set: (target, name, value) => Reflect.set(target, name, value, target),
    });
  }

  /** Ends an answer that is under way; true when none was begun, so that the client is to be told. */
  expire(): boolean {
    this.expired = true;
    if (!this.inner.answered) return true;
    this.stream?.destroy();
    return false;
  }

  private readonly send = (status: number, headers: HeaderLines, body: Uint8Array): void => {
    if (!this.expired) this.inner.send(status, headers, body);
  };

  private readonly begin = (status: number, headers: HeaderLines, trailing?: boolean): BodyStream => {
    if (this.expired) return closedStream;
    return (this.stream = this.inner.stream(status, headers, trailing));
  };
}

/** The body of an answer that nobody waits for. */
const closedStream: BodyStream = {
  write: () => true,
  drained: () => Promise.resolve(),
  backlogBytes: 0,
  closed: true,
  end: () => undefined,
  destroy: () => undefined,
};
