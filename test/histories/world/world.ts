import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { EtcdServer } from "../../storage/etcd-server.ts";
import { PostgresServer } from "../../storage/postgres-server.ts";
import type { Api } from "../../support/api.ts";
import { childrenOf, roleOf } from "../../support/child-processes.ts";
import type { Dice } from "../../support/dice.ts";
import { program, ServerProcess } from "../../support/process.ts";
import { SmallDisk } from "../../support/small-disk.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { HttpClient } from "../recording/client.ts";
import type { Endpoint } from "../recording/http.ts";
import { Fleet } from "../recording/fleet.ts";
import { Recorder } from "../recording/recorder.ts";
import { configMapLimit, namespaces, users } from "../recording/workload.ts";

/** Storage engine of a world. */
export type EngineName = "etcd" | "postgres" | "lmdb";

/** Options of {@link World}. */
export interface WorldOptions {
  readonly engine: EngineName;
  /** Number of server processes; with the embedded engine there is one. */
  readonly servers: number;
  /** Number of etcd members. */
  readonly members: number;
  /** Number of processes of the server over the embedded store that serve requests; 1 by default. */
  readonly workers?: number;
  /** Whether servers keep the history of all resources for an hour, so that each write commits a record too. */
  readonly keepsHistory?: boolean;
  /** Number of workspaces in which clients work too; they also work in branches of them then. 0 by default. */
  readonly workspaces?: number;
  /** Time for which servers keep history, in seconds; 15 over the embedded store and 40 over others by default. */
  readonly retentionSeconds?: number;
  /** Path of the program; the built one by default. */
  readonly program?: string;
  /** Longest duration of most faults, in milliseconds; 3000 by default. */
  readonly maxFaultMs?: number;
  /** Longest time between two faults, in milliseconds; 4000 by default. */
  readonly maxPauseMs?: number;
}

/** Time after which a client gives a request up, in milliseconds. */
const requestTimeoutMs = 3000;
/** Default of the time for which servers keep history. If a watch is interrupted for longer, its round can't be judged as a whole. */
const defaultRetentionSeconds = { etcd: 40, postgres: 40, lmdb: 15 } as const;
/** Times are measured on both sides of a connection; this tolerance is subtracted from the retention. */
const toleranceNs = 2e9;

/** A server process that can be killed, frozen and started again with the same data. */
class ManagedServer {
  process: ServerProcess | undefined;
  /** Where the server listens; undefined while it is down. */
  endpoint: Endpoint | undefined;
  private isFrozen = false;

  constructor(
    readonly name: string,
    private readonly program: string,
    private readonly dataDir: string,
    private readonly flags: readonly string[],
    private readonly fleet: Fleet,
  ) {}

  async start(): Promise<void> {
    const server = await ServerProcess.startProgram(this.program, this.dataDir, ...this.flags);
    this.process = server;
    const endpoint = { name: this.name, url: server.url, ca: readFileSync(server.caFile, "utf8") };
    this.endpoint = endpoint;
    const { fleet } = this;
    fleet.add(
      this.name,
      (client, user, workspace) =>
        new HttpClient(client, user, endpoint, fleet.recorder, requestTimeoutMs, workspace),
    );
  }

  /** Kills the process. */
  async kill(): Promise<void> {
    this.isFrozen = false;
    const server = this.process!;
    this.process = undefined;
    this.endpoint = undefined;
    const ended = server.stop("SIGKILL");
    this.fleet.remove(this.name);
    await ended;
  }

  /** Stops the process; its connections stay open and nothing is answered. */
  freeze(): void {
    this.isFrozen = true;
    process.kill(this.process!.pid, "SIGSTOP");
  }

  thaw(): void {
    if (!this.isFrozen) return;
    this.isFrozen = false;
    process.kill(this.process!.pid, "SIGCONT");
  }

  /** Ends the process in order, so that it can be killed if it does not. */
  async stop(): Promise<void> {
    this.thaw();
    await this.process?.stop();
    this.process = undefined;
  }
}

/** Server processes over one store, and the etcd members or the database, if any. */
export class World {
  readonly fleet: Fleet;
  readonly servers: ManagedServer[] = [];
  members: EtcdServer[] = [];
  /** The database; undefined with another engine. */
  database: PostgresServer | undefined;
  /** The file system of the embedded store; undefined with etcd, or if none can be mounted. */
  disk: SmallDisk | undefined;
  /** Times of the kills of servers, in nanoseconds of the recording, by process id. */
  readonly killedNs = new Map<number, number>();
  private readonly folder = temporaryFolder();

  private constructor(readonly options: WorldOptions) {
    this.fleet = new Fleet(
      new Recorder({
        quotas: [{ prefix: "/configmaps/limited/", limit: configMapLimit }],
        retentionNs: this.retentionSeconds * 1e9 - toleranceNs,
      }),
    );
  }

  private get retentionSeconds(): number {
    const { retentionSeconds, engine } = this.options;
    return retentionSeconds ?? defaultRetentionSeconds[engine];
  }

  /** Names of the workspaces in which clients work. */
  get workspaces(): string[] {
    return Array.from({ length: this.options.workspaces ?? 0 }, (_, index) => `workspace-${index}`);
  }

  /** Starts the etcd members and the servers, and creates the namespaces. */
  static async start(options: WorldOptions): Promise<World> {
    const world = new World(options);
    try {
      await world.run();
    } catch (error) {
      await world.close();
      throw error;
    }
    return world;
  }

  private async run(): Promise<void> {
    const { engine, members, keepsHistory } = this.options;
    const tokens = path.join(this.folder.path, "tokens.csv");
    const lines = [
      "admin,admin,0,system:masters",
      ...users.map((user, index) => `${user},${user},${index + 1}`),
    ];
    writeFileSync(tokens, `${lines.join("\n")}\n`);
    const flags = [
      "--runtime-config=transactions.platform.io/v1alpha1=true,tenancy.platform.io/v1alpha1=true",
      `--token-auth-file=${tokens}`,
      "--controllers=*,-root-ca-cert-publisher",
      "--service-cluster-ip-range=10.0.0.0/27",
      `--history-retention=${this.retentionSeconds}s${keepsHistory === true ? ",*=1h" : ""}`,
    ];
    if (engine === "etcd") {
      this.members = await EtcdServer.startCluster(members, { heartbeatMs: 50 });
      flags.push(`--etcd-servers=${this.members.map(({ endpoint }) => endpoint).join(",")}`);
    }
    if (engine === "postgres") {
      this.database = await PostgresServer.start();
      flags.push(`--postgres-url=${this.database.url}`);
    }
    const { workers = 1, program: file = program } = this.options;
    if (workers > 1) flags.push(`--workers=${workers}`);
    const count = engine === "lmdb" ? 1 : this.options.servers;
    const parent = engine === "lmdb" ? this.mount() : this.folder.path;
    for (let index = 0; index < count; index++) {
      const dataDir = path.join(parent, `data-${index}`);
      const server = new ManagedServer(`server-${index}`, file, dataDir, flags, this.fleet);
      this.servers.push(server);
      await server.start();
    }
    await this.prepare();
  }

  /** Returns the folder for the data of an embedded store: a small file system, if one can be mounted. */
  private mount(): string {
    if (SmallDisk.missing !== undefined) return this.folder.path;
    const folder = path.join(this.folder.path, "disk");
    mkdirSync(folder);
    this.disk = new SmallDisk(folder);
    this.disk.enlarge();
    return folder;
  }

  private async prepare(): Promise<void> {
    const admin = this.servers[0]!.process!.as("admin");
    await prepareNamespaces(admin, "");
    if (this.workspaces.length > 0) await admitUsers(admin);
    for (const name of this.workspaces) {
      await admin.post("/apis/tenancy.platform.io/v1alpha1/workspaces", { metadata: { name } });
      await prepareNamespaces(admin, `/clusters/${name}`);
    }
  }

  /** Kills a server, and starts it again after a pause. */
  async restart(server: ManagedServer, pauseMs: number): Promise<void> {
    const { pid } = server.process!;
    // The processes that serve requests end with the one that started them.
    for (const one of [pid, ...childrenOf(pid)]) this.noteKill(one);
    await server.kill();
    await setTimeout(pauseMs);
    await server.start();
  }

  /** Kills a process of a server with several workers, which the server replaces. */
  killChild(role: "worker" | "committer", dice: Dice): void {
    const children = childrenOf(this.servers[0]!.process!.pid).filter((pid) => roleOf(pid) === role);
    // It may be starting again after an earlier kill.
    if (children.length === 0) return;
    const pid = dice.pick(children);
    this.noteKill(pid);
    process.kill(pid, "SIGKILL");
  }

  private noteKill(pid: number): void {
    this.killedNs.set(pid, this.fleet.recorder.nowNs());
  }

  /** Returns where a random server listens; undefined if none does. */
  endpoint(dice: Dice): Endpoint | undefined {
    const endpoints = this.servers.flatMap(({ endpoint }) => endpoint ?? []);
    return endpoints.length === 0 ? undefined : dice.pick(endpoints);
  }

  /** Ends every process and removes the data. */
  async close(): Promise<void> {
    this.fleet.close();
    for (const server of this.servers) await server.stop();
    for (const member of this.members) member.thaw();
    await Promise.all(this.members.map((member) => member.dispose()));
    await this.database?.dispose();
    this.disk?.remove();
    this.folder.remove();
  }
}

/** Creates the namespaces of the clients, below the path of a workspace. */
async function prepareNamespaces(admin: Api, root: string): Promise<void> {
  for (const name of namespaces) await admin.post(`${root}/api/v1/namespaces`, { metadata: { name } });
  const spec = { hard: { "count/configmaps": String(configMapLimit) } };
  const quota = { metadata: { name: "limit" }, spec };
  const quotas = `${root}/api/v1/namespaces/limited/resourcequotas`;
  await admin.post(quotas, quota);
  // The quota is enforced from the moment at which its usage is in its status.
  const isCharged = async () => {
    const { body } = await admin.get(`${quotas}/limit`);
    return (body as { status?: { hard?: object } }).status?.hard !== undefined;
  };
  while (!(await isCharged())) await setTimeout(50);
}

/** Allows the users to enter all workspaces. */
async function admitUsers(admin: Api): Promise<void> {
  const rbac = "/apis/rbac.authorization.platform.io/v1";
  const apiGroup = "rbac.authorization.platform.io";
  const metadata = { name: "enter-workspaces" };
  const rules = [{ apiGroups: ["tenancy.platform.io"], resources: ["workspaces"], verbs: ["access"] }];
  await admin.post(`${rbac}/clusterroles`, { metadata, rules });
  await admin.post(`${rbac}/clusterrolebindings`, {
    metadata,
    roleRef: { apiGroup, kind: "ClusterRole", name: metadata.name },
    subjects: users.map((name) => ({ apiGroup, kind: "User", name })),
  });
}
