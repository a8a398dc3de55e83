import type { ApiObject } from "../../../src/schema/kind.ts";
import type { AnswerSink } from "../servers/exchange.ts";
import type { SimulatedServer } from "../servers/simulated-server.ts";
import { ProcessClock } from "../time/process-clock.ts";
import type { World } from "../world.ts";
import type { Dice } from "../../support/dice.ts";

/** The answer of a server. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly server: SimulatedServer;
  /** The newest resource version that any client had received when the request was sent. */
  readonly acknowledgedBefore: number;
}

/** A list of objects as answered. */
export interface AnsweredList {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly ApiObject[];
}

/** Parts of a request. */
export interface RequestParts {
  readonly body?: object | undefined;
  readonly contentType?: string | undefined;
  /** By default that of the client. */
  readonly server?: SimulatedServer | undefined;
  /** Whether the request never arrives twice, because its second execution would be taken for a defect. */
  readonly once?: boolean | undefined;
}

/** Receives a watch. */
export interface StreamSink {
  line(text: string): void;
  /** The stream ended or broke; with the status if it didn't start with 200. */
  ended(status: number): void;
}

/** Mean pause of busy clients, in milliseconds. */
const busyPauseMs = 400;

/** Time after which a client gives up, in milliseconds. */
const timeoutMs = 30_000;

/** Receives the answer to a request that arrived a second time. */
const ignoredAnswer: AnswerSink = {
  started: () => undefined,
  bytes: () => undefined,
  ended: () => undefined,
  lost: () => undefined,
};

/** A client of the simulated servers: it sends requests through the pipeline, over a network that delays and loses messages. */
export class ApiClient {
  readonly dice: Dice;
  readonly clock: ProcessClock;

  /**
   * @param user name of the user and its groups, separated by `|`.
   * @param server the server of all requests; by default a random one for each.
   */
  constructor(
    readonly world: World,
    readonly actor: string,
    private readonly user = "simulated|system:masters",
    private readonly server?: SimulatedServer,
  ) {
    this.dice = world.dice(actor);
    this.clock = new ProcessClock(world.scheduler, actor);
  }

  /** Resolves after a time in milliseconds. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.clock.setTimer(resolve, ms));
  }

  /** Resolves after a random time with a mean in milliseconds. */
  pause(meanMs: number): Promise<void> {
    const mean = this.world.isBusy ? Math.min(meanMs, busyPauseMs) : meanMs;
    return this.sleep(-Math.log(1 - this.dice.next()) * mean);
  }

  /** Sends a request. Resolves with undefined if there is no answer, so that the outcome isn't known. */
  async request(method: string, url: string, parts: RequestParts = {}): Promise<Answer | undefined> {
    const { world, actor } = this;
    const server = parts.server ?? this.server ?? this.dice.pick(world.servers);
    const acknowledgedBefore = world.acknowledged;
    const started = await this.exchange(method, url, server, parts);
    world.trace.add(
      actor,
      `${method} ${url} ${server.name}`,
      started === undefined ? "no answer" : `${started.status} ${started.text.length}`,
    );
    return started && { ...started, server, acknowledgedBefore };
  }

  /** Opens a stream of lines. Returns a function that closes it; the sink gets nothing after that. */
  stream(url: string, server: SimulatedServer, sink: StreamSink): () => void {
    let rest = "";
    let status = 0;
    let isOver = false;
    const end = (): void => {
      if (isOver) return;
      isOver = true;
      sink.ended(status);
    };
    const disconnect = this.send("GET", url, server, undefined, {
      started: (value) => (status = value),
      bytes: (bytes) => {
        if (isOver || status !== 200) return;
        const lines = (rest + bytes.toString()).split("\n");
        rest = lines.pop()!;
        for (const line of lines) if (!isOver) sink.line(line);
      },
      ended: end,
      lost: end,
    });
    return () => {
      isOver = true;
      disconnect();
    };
  }

  private exchange(
    method: string,
    url: string,
    server: SimulatedServer,
    parts: RequestParts,
  ): Promise<{ status: number; text: string } | undefined> {
    return new Promise((resolve) => {
      let status = 0;
      const pieces: Buffer[] = [];
      const deadline = this.clock.setTimer(() => {
        disconnect();
        resolve(undefined);
      }, timeoutMs);
      const settle = (answer: { status: number; text: string } | undefined): void => {
        deadline.cancel();
        resolve(answer);
      };
      const disconnect = this.send(method, url, server, parts, {
        started: (value) => (status = value),
        bytes: (bytes) => void pieces.push(bytes),
        ended: () => settle({ status, text: Buffer.concat(pieces).toString() }),
        lost: () => settle(undefined),
      });
    });
  }

  /** Sends a request over the network; everything that comes back is delayed, in order. */
  private send(
    method: string,
    url: string,
    server: SimulatedServer,
    { body, contentType = "application/json", once = false }: RequestParts = {},
    sink: { started(status: number): void; bytes(bytes: Buffer): void; ended(): void; lost(): void },
  ): () => void {
    const { clientNetwork, scheduler } = this.world;
    let disconnect: (() => void) | undefined;
    let isClosed = false;
    let arrivesMs = 0;
    const back = (deliver: () => void): void => {
      arrivesMs = Math.max(arrivesMs, scheduler.nowMs + clientNetwork.delayMs());
      this.clock.setTimer(() => {
        if (!isClosed) deliver();
      }, arrivesMs - scheduler.nowMs);
    };
    const passage = clientNetwork.passage();
    const headers = {
      authorization: `Bearer ${this.user}`,
      ...(body === undefined ? {} : { "content-type": contentType }),
    };
    const request = { method, url, headers, body: body && Buffer.from(JSON.stringify(body)) };
    const arrive = (): void => {
      if (isClosed) return;
      disconnect = server.receive(request, {
        started: (status) => back(() => sink.started(status)),
        bytes: (bytes) => back(() => sink.bytes(Buffer.from(bytes))),
        ended: () => back(() => (passage.answerMs === undefined ? sink.lost() : sink.ended())),
        lost: () => back(() => sink.lost()),
      });
      if (disconnect === undefined) back(() => sink.lost());
    };
    // A connection on which nothing arrives is given up.
    if (passage.requestMs === undefined) this.clock.setTimer(() => back(() => sink.lost()), timeoutMs);
    else this.clock.setTimer(arrive, passage.requestMs);
    if (passage.repeatMs !== undefined && !once && method !== "GET")
      this.clock.setTimer(() => void server.receive(request, ignoredAnswer), passage.repeatMs);
    return () => {
      isClosed = true;
      disconnect?.();
    };
  }
}
