import type { NamedAuthenticator } from "../../../src/authentication/guarded-authenticator.ts";
import type { Logger } from "../../../src/base/logger.ts";
import { seededRandom } from "../../../src/base/random.ts";
import { handle } from "../../../src/http/pipeline.ts";
import type { HttpService } from "../../../src/http/service.ts";
import type { Connection } from "../../../src/http/transport/connection.ts";
import { serverOptionsOf } from "../../../src/server/options/library-options.ts";
import type { StorageSettings } from "../../../src/server/options/settings-types.ts";
import { startServer, type Server } from "../../../src/server/server.ts";
import type { MemoryStore } from "../../../src/storage/memory/memory-store.ts";
import type { SimulatedCluster } from "../etcd/simulated-cluster.ts";
import { storePrefix } from "../history/history.ts";
import { ProcessClock } from "../time/process-clock.ts";
import type { Scheduler } from "../time/scheduler.ts";
import { SimulatedExchange, type AnswerSink, type SimulatedRequest } from "./exchange.ts";
import { StoreOfProcess } from "./store-of-process.ts";

/** The environment of a server. */
export interface ServerWorld {
  readonly scheduler: Scheduler;
  readonly cluster: SimulatedCluster;
  /** The store of the servers, if it isn't in the cluster. It outlives their processes. */
  readonly memory: MemoryStore | undefined;
  readonly seed: number;
  /** Minimum age of history that a server may drop, in milliseconds. */
  readonly retentionMs: number;
  /** Whether the servers keep the history of ConfigMaps. */
  readonly keepsHistory: boolean;
  /** Receives a line of a server's log. */
  logged(server: string, level: "info" | "warn" | "error", text: string, fields: object): void;
  /** Called when the start of a server fails; it is started again. */
  startFailed(server: string, error: unknown): void;
}

/** Authenticates the clients of the simulation: the token is the name of the user and its groups, separated by `|`. */
const authenticator: NamedAuthenticator = {
  name: "simulated",
  authenticate({ authorization }) {
    if (!authorization?.startsWith("Bearer ")) return undefined;
    const [name = "", ...groups] = authorization.slice("Bearer ".length).split("|");
    return { user: { name, uid: "", groups, extra: {} }, method: "simulated", cacheable: true };
  },
};

/** One life of a server process: from its start to its crash. */
class Life {
  readonly clock: ProcessClock;
  server: Server | undefined;
  /** Its view of the store in memory. */
  store: StoreOfProcess | undefined;
  /** The connections with requests, also those that the process hasn't read yet. */
  readonly open = new Set<{ breakOff(): void }>();

  constructor(scheduler: Scheduler, actor: string) {
    this.clock = new ProcessClock(scheduler, actor);
  }

  get service(): HttpService | undefined {
    return this.server?.["parts"].service;
  }
}

/** A server process that can crash, freeze and start again. Its state is in the cluster. */
export class SimulatedServer {
  private life: Life | undefined;
  private lives = 0;

  constructor(
    private readonly world: ServerWorld,
    readonly name: string,
  ) {}

  /** Whether the process runs and isn't frozen. */
  get isUp(): boolean {
    return this.life?.clock.isRunning ?? false;
  }

  /** Whether the start is complete. */
  get hasStarted(): boolean {
    return this.life?.server !== undefined;
  }

  /** The clock of the present life; undefined while the process is down. */
  get clock(): ProcessClock | undefined {
    return this.life?.clock;
  }

  /** Name of the present life, which no other has. */
  get lifeName(): string {
    return `${this.name}.${this.lives}`;
  }

  /** Starts the process; while its start fails, again after a pause, as a supervisor would. */
  start(): void {
    if (this.life !== undefined) return;
    const name = `${this.name}.${++this.lives}`;
    const life = new Life(this.world.scheduler, name);
    this.life = life;
    this.launch(life, name).catch((error: unknown) => {
      if (this.life !== life) return;
      this.world.startFailed(this.name, error);
      this.crash();
      this.world.scheduler.after(this.name, restartMs, () => this.start());
    });
  }

  /** Ends the process at once: connections break, timers and messages of the process never arrive. */
  crash(): void {
    const { life } = this;
    this.life = undefined;
    if (life === undefined) return;
    life.clock.kill();
    life.store?.end();
    this.world.cluster.disconnect(life.clock.actor);
    for (const exchange of life.open) exchange.breakOff();
  }

  /** Sends a request to the process at the present time. Returns a function that closes the connection; undefined if it is refused. */
  receive(request: SimulatedRequest, sink: AnswerSink): (() => void) | undefined {
    const { life } = this;
    if (life === undefined) return undefined;
    let exchange: SimulatedExchange | undefined;
    let isClosed = false;
    const unread = { breakOff: () => sink.lost() };
    life.open.add(unread);
    // Through the clock, because a frozen process reads the request later.
    life.clock.setTimer(() => {
      const { service } = life;
      life.open.delete(unread);
      if (isClosed) return;
      // It doesn't listen yet.
      if (service === undefined) return sink.lost();
      exchange = new SimulatedExchange(request, newConnection(), service.guard, sink);
      life.open.add(exchange);
      exchange.onClose(() => life.open.delete(exchange!));
      handle(service, exchange);
    }, 0);
    return () => {
      isClosed = true;
      exchange?.disconnect();
    };
  }

  private async launch(life: Life, name: string): Promise<void> {
    const { cluster, memory, seed, retentionMs, keepsHistory } = this.world;
    const { endpoints } = cluster;
    if (memory !== undefined) life.store = new StoreOfProcess(memory);
    const options = serverOptionsOf({
      port: false,
      storage: life.store ?? { engine: "etcd", endpoints: [...endpoints], prefix: storePrefix },
      vocabulary: "kubernetes",
      clock: life.clock,
      log: this.logger(life),
      retentionMs,
      runtimeConfig: "transactions.k8s.io/v1alpha1=true,tenancy.k8s.io/v1alpha1=true",
      ...(keepsHistory ? { keptHistory: ["configmaps=30d"] } : {}),
      authenticators: [authenticator],
    });
    const inCluster: StorageSettings & { readonly connect: unknown } = {
      ...(options.storage as StorageSettings),
      connect: () => cluster.connect(name, life.clock),
    };
    const storage = life.store === undefined ? inCluster : options.storage;
    const server = await startServer({ ...options, storage, random: seededRandom(seed * 1000 + this.lives) });
    life.server = server;
  }

  private logger(life: Life): Logger {
    const write = (level: "info" | "warn" | "error") => (fields: object, text: string) => {
      if (this.life === life) this.world.logged(this.name, level, text, fields);
    };
    return { info: write("info"), warn: write("warn"), error: write("error") };
  }
}

/** Time after which a supervisor starts a process again, in milliseconds. */
const restartMs = 1000;

function newConnection(): Connection {
  return {
    remoteAddress: "10.0.0.1",
    secure: true,
    certificate: undefined,
    certificateChain: [],
    certificateError: undefined,
    identity: undefined,
    backlog: undefined,
  };
}
