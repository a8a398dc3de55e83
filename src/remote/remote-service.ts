import { readFile } from "node:fs/promises";
import type { Clock } from "../base/time/clock.ts";
import { parseEmbeddedJson } from "../base/json/embedded.ts";
import type { ClientConfiguration, RemoteCredentials } from "./client-configuration.ts";
import { RemoteFault, type RemoteAnswer } from "./answer-reader.ts";
import { RemoteClient, type RemoteLimits } from "./remote-client.ts";

/** Limits and retries of requests to a service. */
export interface ServiceLimits extends RemoteLimits {
  /** Maximum attempts of a request after transient errors. */
  readonly attempts: number;
  /** Delay before the second attempt, in milliseconds; it grows by a factor of 1.5. */
  readonly backoffMs: number;
}

/** As in the reference: five attempts within about ten seconds if the service is down. */
export const serviceLimits: ServiceLimits = {
  timeoutMs: 10_000,
  maxAnswerBytes: 1024 * 1024,
  attempts: 5,
  backoffMs: 500,
};

const backoffFactor = 1.5;
/** Maximum delay before a retry; caps `Retry-After`. */
const maxWaitMs = 10_000;
/** Interval of reading the token file again. */
const tokenFileMs = 60_000;

/**
 * An external JSON service (a webhook) from a client configuration. Retries after broken connections and after responses with status
 * 429, 500, 503 or 504.
 */
export class RemoteService {
  private client: RemoteClient;
  private authorization: () => Promise<string | undefined>;
  /** Clients of previous configurations that may have pending requests. */
  private readonly retired = new Set<RemoteClient>();

  constructor(
    private configuration: ClientConfiguration,
    private readonly clock: Clock,
    private readonly limits: ServiceLimits = serviceLimits,
  ) {
    this.client = new RemoteClient(configuration.tls, limits, clock);
    this.authorization = authorizationOf(configuration.credentials, clock);
  }

  /**
   * Posts a request and returns the parsed JSON of the response.
   *
   * @throws {RemoteFault} if the service is unreachable or too slow, or responds with another status than 2xx or with invalid JSON.
   */
  async post(question: object): Promise<unknown> {
    const answer = await this.send(JSON.stringify(question), ({ retryable: passing }) => passing);
    try {
      return parseEmbeddedJson(answer.bytes.toString("utf8"));
    } catch {
      throw new RemoteFault(`${this.place} answers with something that isn't JSON`, false);
    }
  }

  /**
   * Posts JSON and ignores the body of the response. Retries after every failure.
   *
   * @throws {RemoteFault} if all attempts failed.
   */
  async deliver(json: string): Promise<void> {
    await this.send(json, () => true);
  }

  private async send(body: string, worthwhile: (fault: RemoteFault) => boolean): Promise<RemoteAnswer> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.postOnce(body);
      } catch (error) {
        const again = error instanceof RemoteFault && worthwhile(error) && attempt < this.limits.attempts;
        if (!again) throw error;
        await this.wait(error.retryAfterMs ?? this.limits.backoffMs * backoffFactor ** (attempt - 1));
      }
    }
  }

  /** Switches to another configuration. Pending requests continue with the previous one. */
  renew(configuration: ClientConfiguration): void {
    const before = this.client;
    this.configuration = configuration;
    this.client = new RemoteClient(configuration.tls, this.limits, this.clock);
    this.authorization = authorizationOf(configuration.credentials, this.clock);
    this.retired.add(before);
    // If closing fails, the connections are closed anyway.
    const forget = () => this.retired.delete(before);
    before.retire().then(forget, forget);
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    await Promise.all([this.client, ...this.retired].map((client) => client.close()));
  }

  private async postOnce(body: string): Promise<RemoteAnswer> {
    const authorization = await this.authorization();
    const headers: Record<string, string> = {
      "content-type": "application/json",
      accept: "application/json",
    };
    if (authorization !== undefined) headers["authorization"] = authorization;
    const answer = await this.client.send(this.configuration.server, { method: "POST", headers, body });
    if (answer.status < 200 || answer.status > 299) throw this.badStatus(answer);
    return answer;
  }

  private badStatus({ status, header }: RemoteAnswer): RemoteFault {
    const seconds = Number(header("retry-after") ?? "");
    const isValid = header("retry-after") !== undefined && Number.isInteger(seconds) && seconds >= 0;
    const retryAfterMs = isValid ? Math.min(seconds * 1000, maxWaitMs) : undefined;
    const passing = status === 429 || status === 500 || status === 503 || status === 504;
    return new RemoteFault(`${this.place} answers with status ${status}`, passing, retryAfterMs);
  }

  private get place(): string {
    const { origin, pathname } = this.configuration.server;
    return `${origin}${pathname}`;
  }

  private wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.clock.setTimer(resolve, ms));
  }
}

/** Returns a function that returns the value of the header `Authorization`. */
export function authorizationOf(
  credentials: RemoteCredentials,
  clock: Clock,
): () => Promise<string | undefined> {
  switch (credentials.kind) {
    case "none":
      return () => Promise.resolve(undefined);
    case "token":
      return () => Promise.resolve(`Bearer ${credentials.token}`);
    case "basic": {
      const pair = Buffer.from(`${credentials.user}:${credentials.password}`).toString("base64");
      return () => Promise.resolve(`Basic ${pair}`);
    }
    case "token-file":
      return fromFile(credentials.file, clock);
  }
}

function fromFile(file: string, clock: Clock): () => Promise<string | undefined> {
  let cached: { readonly header: string; readonly untilMs: number } | undefined;
  return async () => {
    if (cached !== undefined && clock.monotonicNow() < cached.untilMs) return cached.header;
    let token: string;
    try {
      token = (await readFile(file, "utf8")).trim();
    } catch (error) {
      throw new RemoteFault(`the token file ${file} can't be read: ${String(error)}`, false);
    }
    cached = { header: `Bearer ${token}`, untilMs: clock.monotonicNow() + tokenFileMs };
    return cached.header;
  };
}
