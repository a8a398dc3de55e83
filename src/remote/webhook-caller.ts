import type { Clock } from "../base/clock.ts";
import { CallQueue, CallRefusedError, type CallQueueLimits } from "./call-queue.ts";
import { noCredentials, type NamedCredentials } from "./named-credentials.ts";
import { RemoteFault } from "./answer-reader.ts";
import { RemoteClient, type RemoteAddress } from "./remote-client.ts";
import { authorizationOf } from "./remote-service.ts";
import type { ServicePort, WebhookTarget } from "./webhook-target.ts";

/** Finds an address at which a service of the cluster is served; rejects with an error whose message says why there is none. */
export type ResolveService = (service: ServicePort) => Promise<RemoteAddress>;

/** One question to a webhook. */
export interface WebhookCall {
  readonly json: string;
  /** The answer must be complete by then; the time in the queue counts. */
  readonly timeoutMs: number;
  /** On whose behalf: users take turns where a webhook is slow. */
  readonly source: string;
}

/** The largest answer: a patch of an object of the largest size, in base64, and what is around it. */
const maxAnswerBytes = 8 * 1024 * 1024;
/** The longest timeout that objects of the API can say. */
const longestTimeoutMs = 30_000;

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

interface Backend {
  readonly client: RemoteClient;
  readonly queue: CallQueue;
  readonly authorization: () => Promise<string | undefined>;
}

/**
 * Calls webhooks that objects of the API name, over connections that stay open. What is called may change with any call.
 */
export class WebhookCaller {
  /** In the order of their last calls. */
  private readonly backends = new Map<string, Backend>();
  private readonly retiring = new Set<RemoteClient>();

  constructor(
    private readonly clock: Clock,
    private readonly resolve: ResolveService,
    private readonly credentials: NamedCredentials = noCredentials,
  ) {}

  /**
   * Posts a request and returns the bytes of the response.
   *
   * @throws {RemoteFault} the webhook can't be reached, is too slow, has too many calls waiting, or answers with another
   *   status than success, or with too much.
   */
  async call(target: WebhookTarget, call: WebhookCall): Promise<Buffer> {
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
      return await this.post(target, backend, call, leftMs);
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

  /** Ends all connections. */
  async close(): Promise<void> {
    const clients = [...[...this.backends.values()].map(({ client }) => client), ...this.retiring];
    this.backends.clear();
    await Promise.all(clients.map((client) => client.close()));
  }

  private async post(
    { url }: WebhookTarget,
    { client, authorization }: Backend,
    { json }: WebhookCall,
    timeoutMs: number,
  ): Promise<Buffer> {
    const credentials = await authorization();
    const answer = await client.send(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, */*",
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
    // Connections that fail to close are gone all the same.
    client.retire().then(forget, forget);
  }
}

function refused(late: () => RemoteFault): (error: unknown) => never {
  return (error) => {
    throw error instanceof CallRefusedError ? late() : error;
  };
}
