import type { Clock } from "../base/time/clock.ts";
import { traceHeaders } from "../base/tracing/trace-context.ts";
import { contextOf, traced, type Tracer } from "../base/tracing/tracer.ts";
import { CallQueue, CallRefusedError, type CallQueueLimits } from "./call-queue.ts";
import { noCredentials, type NamedCredentials } from "./named-credentials.ts";
import { RemoteFault, urlWithoutQuery } from "./answer-reader.ts";
import { RemoteClient, type RemoteAddress } from "./remote-client.ts";
import { authorizationOf } from "./remote-service.ts";
import type { ServicePort, WebhookTarget } from "./webhook-target.ts";

/** Returns an address of a Service of the cluster. Rejects with an error whose message says why there is none. */
export type ResolveService = (service: ServicePort) => Promise<RemoteAddress>;

/** One request to a webhook. */
export interface WebhookCall {
  readonly json: string;
  /** Timeout for the complete response, including the time in the queue. */
  readonly timeoutMs: number;
  /** Timeout in the configuration of the webhook, in seconds: the query parameter `timeout` of the request. Default: the longest. */
  readonly timeoutSeconds?: number;
  /** The requesting user. Users are served round-robin if a webhook is slow. */
  readonly source: string;
}

/** Maximum size of a response: a base64 patch of an object of the maximum size, with its envelope. */
const maxAnswerBytes = 8 * 1024 * 1024;
/** Maximum timeout that the API allows. */
const longestTimeoutMs = 30_000;
const userAgent = "plinth-webhooks";

/** Limits per webhook, so that a slow one doesn't delay others. */
const queueLimits: CallQueueLimits = {
  running: 100,
  runningPerSource: 80,
  waiting: 1000,
  waitingPerSource: 500,
  waitMs: longestTimeoutMs,
};

/** Maximum number of webhooks with open connections; above it, the least recently called one is closed. */
const maxTargets = 500;

/** Headers that continue the trace of the caller; empty without one. */
type Headers = Readonly<Record<string, string>>;

interface Backend {
  readonly client: RemoteClient;
  readonly queue: CallQueue;
  readonly authorization: () => Promise<string | undefined>;
}

/**
 * Calls webhooks that are configured in API objects, over keep-alive connections. The configuration may change between calls.
 */
export class WebhookCaller {
  /** In order of the last call. */
  private readonly backends = new Map<string, Backend>();
  private readonly retiring = new Set<RemoteClient>();

  constructor(
    private readonly clock: Clock,
    private readonly resolve: ResolveService,
    private readonly credentials: NamedCredentials = noCredentials,
    /** Undefined if requests aren't traced. */
    private readonly tracer?: Tracer,
  ) {}

  /**
   * Posts a request and returns the bytes of the response.
   *
   * @throws {RemoteFault} if the webhook is unreachable or too slow, has too many waiting calls, or responds with another status than
   *   2xx or with too many bytes.
   */
  async call(target: WebhookTarget, call: WebhookCall): Promise<Buffer> {
    const { url } = target;
    const attributes = { "http.request.method": "POST", "url.full": urlWithoutQuery(url) };
    return traced(this.tracer, "webhook call", { kind: "client", attributes }, (span) =>
      this.callInTime(target, call, span === undefined ? {} : traceHeaders(contextOf(span))),
    );
  }

  private async callInTime(target: WebhookTarget, call: WebhookCall, headers: Headers): Promise<Buffer> {
    const backend = this.backendOf(target);
    const endMs = this.clock.monotonicNow() + call.timeoutMs;
    const late = () =>
      new RemoteFault(
        `${target.url.href} could not be asked within ${call.timeoutMs} ms: too many calls wait`,
        true,
      );
    const origin = { source: call.source, connection: undefined, precedence: false };
    let timedOut = false;
    const turn = backend.queue.run(origin, async () => {
      const leftMs = Math.ceil(endMs - this.clock.monotonicNow());
      // The caller has already received the error.
      if (timedOut || leftMs <= 0) throw late();
      return await this.post(target, backend, { ...call, timeoutMs: leftMs }, headers);
    });
    if (backend.queue.waiting === 0) return await turn.catch(refused(late));
    let timer: { cancel(): void } | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = this.clock.setTimer(() => {
        timedOut = true;
        reject(late());
      }, call.timeoutMs);
    });
    try {
      return await Promise.race([turn, timeout]).catch(refused(late));
    } finally {
      timer?.cancel();
    }
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    const clients = [...[...this.backends.values()].map(({ client }) => client), ...this.retiring];
    this.backends.clear();
    await Promise.all(clients.map((client) => client.close()));
  }

  private async post(
    { url }: WebhookTarget,
    { client, authorization }: Backend,
    { json, timeoutMs, timeoutSeconds = longestTimeoutMs / 1000 }: WebhookCall,
    headers: Headers,
  ): Promise<Buffer> {
    const credentials = await authorization();
    const answer = await client.send(new URL(`?timeout=${timeoutSeconds}s`, url), {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, */*",
        "user-agent": userAgent,
        ...headers,
        ...(credentials === undefined ? {} : { authorization: credentials }),
      },
      body: json,
      timeoutMs,
    });
    if (answer.status < 200 || answer.status > 299) {
      throw new RemoteFault(`${url.origin}${url.pathname} answers with status ${answer.status}`, false);
    }
    return answer.bytes;
  }

  private backendOf(target: WebhookTarget): Backend {
    const { key } = target;
    let backend = this.backends.get(key);
    if (backend === undefined) backend = this.open(target);
    else this.backends.delete(key);
    this.backends.set(key, backend);
    if (this.backends.size > maxTargets) this.retireOldest();
    return backend;
  }

  private open({ url, ca, service, hostPort }: WebhookTarget): Backend {
    const user = this.credentials.find(hostPort);
    const { tls = {}, credentials = { kind: "none" } } = user ?? {};
    const limits = { timeoutMs: longestTimeoutMs, maxAnswerBytes };
    const named = service === undefined ? {} : { serverName: url.hostname };
    const dial = service === undefined ? undefined : () => this.resolve(service);
    return {
      client: new RemoteClient({ ca, ...tls, ...named }, limits, this.clock, dial),
      queue: new CallQueue(this.clock, queueLimits),
      authorization: authorizationOf(credentials, this.clock),
    };
  }

  private retireOldest(): void {
    const [key, { client }] = this.backends.entries().next().value!;
    this.backends.delete(key);
    this.retiring.add(client);
    const forget = () => this.retiring.delete(client);
    // If closing fails, the connections are closed anyway.
    client.retire().then(forget, forget);
  }
}

function refused(late: () => RemoteFault): (error: unknown) => never {
  return (error) => {
    throw error instanceof CallRefusedError ? late() : error;
  };
}
