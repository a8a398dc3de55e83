import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, chownSync, copyFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { freePort } from "../support/process.ts";
import { temporaryFolder } from "./support.ts";
import type { TlsFiles } from "./etcd-server.ts";

const debianFolder = "/usr/lib/postgresql";

/** Folder of the programs of PostgreSQL; undefined if it isn't installed. */
function findPrograms(): string | undefined {
  const named = process.env.PLINTH_POSTGRES;
  const debian = (() => {
    try {
      return readdirSync(debianFolder).map((version) => path.join(debianFolder, version, "bin"));
    } catch {
      return [];
    }
  })();
  const folders = [
    ...(named === undefined ? [] : [named]),
    ...debian.toReversed(),
    ...(process.env.PATH ?? "").split(":"),
  ];
  return folders.find(
    (folder) => folder !== "" && spawnSync(path.join(folder, "initdb"), ["--version"]).status === 0,
  );
}

const programs = findPrograms();

/** The user that runs the server: it refuses to run as root. */
const owner = process.getuid?.() === 0 ? idOf("postgres") : undefined;

function idOf(user: string): { uid: number; gid: number } | undefined {
  const [uid, gid] = ["-u", "-g"].map((flag) =>
    Number(spawnSync("id", [flag, user], { encoding: "utf8" }).stdout),
  );
  return Number.isInteger(uid) && uid! > 0 ? { uid: uid!, gid: gid! } : undefined;
}

/** Why tests that need PostgreSQL can't run here; undefined if they can. In CI they must. */
export const postgresMissing: string | undefined = (() => {
  const reason =
    programs === undefined
      ? "PostgreSQL is not installed; PLINTH_POSTGRES can name the folder of its programs"
      : process.getuid?.() === 0 && owner === undefined
        ? "PostgreSQL doesn't run as root, and there is no user postgres"
        : undefined;
  if (reason !== undefined && process.env.CI === "true") throw new Error(reason);
  return reason;
})();

interface PostgresOptions {
  /** If present, connections over TCP need TLS. */
  readonly tls?: TlsFiles | undefined;
  /** Whether commits are synced to disk; false by default, because tests don't switch machines off. */
  readonly fsync?: boolean;
  /** Settings of postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A PostgreSQL server on the loopback interface with its own data folder. */
export class PostgresServer {
  private child: ChildProcess | undefined;
  /** What the server wrote last. */
  log = "";
  private readonly folder = temporaryFolder();

  private constructor(
    readonly port: number,
    private readonly options: PostgresOptions,
  ) {}

  static async start(options: PostgresOptions = {}): Promise<PostgresServer> {
    const server = new PostgresServer(await freePort(), options);
    server.initialize();
    await server.run();
    return server;
  }

  /** Starts a standby of this server, which streams its log until {@link detach} or the end of either. */
  async startStandby(port: number): Promise<PostgresServer> {
    const standby = new PostgresServer(port, this.options);
    standby.prepareFolder();
    const source = ["-h", "127.0.0.1", "-p", String(this.port), "-U", "plinth"];
    const flags = ["-D", standby.dataDir, "--write-recovery-conf", "--checkpoint=fast", "--no-sync"];
    const { status, stderr } = spawnSync(path.join(programs!, "pg_basebackup"), [...source, ...flags], {
      ...owner,
      env: { ...process.env, PGPASSWORD: decodeURIComponent(this.password) },
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`pg_basebackup: ${stderr}`);
    standby.configure({ synchronous_standby_names: "" });
    await standby.run();
    return standby;
  }

  /** Makes a server wait for its standby with each commit, until the standby shows it. */
  waitForStandby(): void {
    this.set("synchronous_commit", "remote_apply");
    this.set("synchronous_standby_names", "*");
  }

  /** Ends the stream of a standby: it gets nothing that its primary commits from now on. */
  detach(): void {
    this.set("primary_conninfo", "");
  }

  /** Makes a standby the primary. */
  promote(): void {
    this.sql("select pg_promote()");
  }

  private set(name: string, value: string): void {
    this.sql(`alter system set ${name} = '${value}'`);
    this.sql("select pg_reload_conf()");
  }

  /** URL of the database, with the password. */
  get url(): string {
    return `postgres://plinth:${this.password}@127.0.0.1:${this.port}/postgres`;
  }

  readonly password = "p%24ss%2Fword";

  /** Folder of the Unix socket. */
  get socketFolder(): string {
    return this.folder.path;
  }

  get dataDir(): string {
    return path.join(this.folder.path, "data");
  }

  /** Starts the server; again after {@link kill}, with the same data, as soon as the processes of the killed server have ended. */
  async run(): Promise<void> {
    for (let attempt = 1; !(await this.tryToRun()); attempt++) {
      if (attempt === 100) throw new Error(`postgres doesn't start: ${this.log}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  private async tryToRun(): Promise<boolean> {
    this.log = "";
    const child = spawn(path.join(programs!, "postgres"), ["-D", this.dataDir], {
      ...owner,
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.child = child;
    return new Promise<boolean>((resolve, reject) => {
      child.stderr.on("data", (chunk: Buffer) => {
        this.log = (this.log + chunk.toString()).slice(-20_000);
        if (this.log.includes("ready to accept")) resolve(true);
      });
      child.once("error", reject);
      child.once("exit", (code) => {
        if (/in use|lock file/.test(this.log)) resolve(false);
        else reject(new Error(`postgres ended with ${code}: ${this.log}`));
      });
    });
  }

  /** Ends the server and its connections at once, as a crash does. */
  async kill(): Promise<void> {
    await this.end("SIGKILL");
  }

  /** Ends the server in order; connections are closed. */
  async stop(): Promise<void> {
    await this.end("SIGINT");
  }

  /** Executes SQL in the database. */
  sql(text: string): string {
    const args = [
      "-h",
      this.socketFolder,
      "-p",
      String(this.port),
      "-U",
      "plinth",
      "-d",
      "postgres",
      "-Atc",
      text,
    ];
    const env = { ...process.env, PGPASSWORD: decodeURIComponent(this.password) };
    const { status, stdout, stderr } = spawnSync(path.join(programs!, "psql"), args, {
      env,
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`psql: ${stderr}`);
    return stdout.trim();
  }

  /** Executes SQL in a transaction that ends with `release`. */
  hold(text: string): { readonly held: Promise<void>; release(): Promise<void> } {
    const args = ["-h", this.socketFolder, "-p", String(this.port), "-U", "plinth", "-d", "postgres", "-At"];
    const env = { ...process.env, PGPASSWORD: decodeURIComponent(this.password) };
    const psql = spawn(path.join(programs!, "psql"), args, { env, stdio: ["pipe", "pipe", "inherit"] });
    psql.stdin.write(`begin; ${text}; select 'held';\n`);
    const held = new Promise<void>((resolve) => {
      psql.stdout.on("data", (chunk: Buffer) => {
        if (chunk.includes("held")) resolve();
      });
    });
    const release = async (): Promise<void> => {
      const exited = once(psql, "exit");
      psql.stdin.end();
      await exited;
    };
    return { held, release };
  }

  /** Allows or refuses connections over TCP without TLS; has an effect if the server has TLS. */
  allowPlain(allowed: boolean): void {
    const access = `local all all scram-sha-256\n${allowed ? "host" : "hostssl"} all all 127.0.0.1/32 scram-sha-256\n`;
    writeFileSync(path.join(this.dataDir, "pg_hba.conf"), access);
    if (this.child !== undefined) this.sql("select pg_reload_conf()");
  }

  /** Gives a copy of the data to the user that runs the server. */
  own(folder: string): void {
    if (owner === undefined) return;
    spawnSync("chown", ["-R", `${owner.uid}:${owner.gid}`, folder]);
  }

  async dispose(): Promise<void> {
    await this.kill();
    this.folder.remove();
  }

  private async end(signal: "SIGKILL" | "SIGINT"): Promise<void> {
    const { child } = this;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  }

  /** Creates the folder of the server and the file with its password. */
  private prepareFolder(): string {
    const { path: folder } = this.folder;
    const passwordFile = path.join(folder, "password");
    writeFileSync(passwordFile, decodeURIComponent(this.password));
    for (const file of [folder, passwordFile]) if (owner !== undefined) chownSync(file, owner.uid, owner.gid);
    return passwordFile;
  }

  private initialize(): void {
    const passwordFile = this.prepareFolder();
    const flags = [
      "-D",
      this.dataDir,
      "-U",
      "plinth",
      "--no-sync",
      "--auth=scram-sha-256",
      `--pwfile=${passwordFile}`,
    ];
    const { status, stderr } = spawnSync(
      path.join(programs!, "initdb"),
      [...flags, "--locale=C", "--encoding=UTF8"],
      { ...owner, encoding: "utf8" },
    );
    if (status !== 0) throw new Error(`initdb: ${stderr}`);
    writeFileSync(path.join(this.dataDir, "postgresql.auto.conf"), "");
    this.configure({});
    if (this.options.tls !== undefined) this.allowPlain(false);
  }

  /** Adds the settings of this server and further ones to those of its data folder. */
  private configure(further: Readonly<Record<string, string>>): void {
    const { tls, fsync = false, settings = {} } = this.options;
    const { path: folder } = this.folder;
    const all: Record<string, string> = {
      listen_addresses: "127.0.0.1",
      port: String(this.port),
      unix_socket_directories: folder,
      fsync: fsync ? "on" : "off",
      shared_buffers: "32MB",
      max_wal_size: "64MB",
      ...settings,
      ...(tls === undefined ? {} : { ssl: "on", ...this.tlsSettings(tls) }),
      ...further,
    };
    const lines = Object.entries(all).map(([name, value]) => `${name} = '${value}'\n`);
    appendFileSync(path.join(this.dataDir, "postgresql.auto.conf"), lines.join(""));
  }

  /** Copies the files, because the server refuses a key that others may read. */
  private tlsSettings({ caFile, serverCert, serverKey }: TlsFiles): Record<string, string> {
    const files = { ssl_ca_file: caFile, ssl_cert_file: serverCert, ssl_key_file: serverKey };
    return Object.fromEntries(
      Object.entries(files).map(([name, file]) => {
        const copy = path.join(this.folder.path, name);
        copyFileSync(file, copy);
        if (owner !== undefined) chownSync(copy, owner.uid, owner.gid);
        return [name, copy];
      }),
    );
  }
}
