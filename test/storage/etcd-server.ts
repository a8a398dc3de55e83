import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { temporaryFolder } from "./support.ts";

/** Why tests that need etcd can't run here, or `undefined` when they can. */
export const etcdMissing: string | undefined =
  spawnSync("etcd", ["--version"]).status === 0 ? undefined : "there is no etcd on PATH";

/** How a member is started. */
interface EtcdOptions {
  /** When given, clients need TLS and a certificate of the same authority. */
  readonly tls?: TlsFiles | undefined;
  /** Milliseconds between a leader's heartbeats; elections wait ten times as long. */
  readonly heartbeatMs?: number;
  readonly furtherFlags?: readonly string[];
}

/** A member of an etcd cluster on the loopback interface, with its data in a folder of its own. */
export class EtcdServer {
  private child: ChildProcess | undefined;
  private readonly folder = temporaryFolder();
  private cluster = "";

  private constructor(
    private readonly name: string,
    private readonly clientPort: number,
    private readonly peerPort: number,
    private readonly metricsPort: number,
    private readonly options: EtcdOptions,
  ) {
    this.cluster = this.peer;
  }

  /** Starts a cluster of one member. */
  static async start(options: EtcdOptions = {}): Promise<EtcdServer> {
    const [server] = await EtcdServer.startCluster(1, options);
    return server!;
  }

  /** Starts a cluster; elections leave time for a busy machine. */
  static async startCluster(members: number, options: EtcdOptions = {}): Promise<EtcdServer[]> {
    const servers: EtcdServer[] = [];
    for (let i = 0; i < members; i++) {
      const ports = [await freePort(), await freePort(), await freePort()] as const;
      servers.push(new EtcdServer(`member-${i}`, ...ports, options));
    }
    const cluster = servers.map(({ peer }) => peer).join(",");
    for (const server of servers) server.cluster = cluster;
    await Promise.all(servers.map((server) => server.run()));
    return servers;
  }

  private get peer(): string {
    return `${this.name}=http://127.0.0.1:${this.peerPort}`;
  }

  private get tls(): TlsFiles | undefined {
    return this.options.tls;
  }

  get endpoint(): string {
    return `${this.tls === undefined ? "http" : "https"}://127.0.0.1:${this.clientPort}`;
  }

  /** The port for clients, on the loopback interface. */
  get port(): number {
    return this.clientPort;
  }

  /** Starts the member; again after {@link kill}, with the same data. */
  async run(): Promise<void> {
    const peer = `http://127.0.0.1:${this.peerPort}`;
    const metrics = `http://127.0.0.1:${this.metricsPort}`;
    const heartbeatMs = this.options.heartbeatMs ?? 10;
    const flags = [
      ["--name", this.name],
      ["--data-dir", this.folder.path],
      ["--listen-client-urls", this.endpoint],
      ["--advertise-client-urls", this.endpoint],
      ["--listen-metrics-urls", metrics],
      ["--listen-peer-urls", peer],
      ["--initial-advertise-peer-urls", peer],
      ["--initial-cluster", this.cluster],
      ["--heartbeat-interval", String(heartbeatMs)],
      ["--election-timeout", String(heartbeatMs * 10)],
      ["--log-level", "error"],
      this.options.furtherFlags ?? [],
    ].flat();
    const child = spawn("etcd", [...flags, "--unsafe-no-fsync", ...tlsFlags(this.tls)], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.child = child;
    let messages = "";
    child.stderr!.setEncoding("utf8").on("data", (text: string) => {
      messages = (messages + text).slice(-2000);
    });
    for (;;) {
      if (child.exitCode !== null) throw new Error(`etcd ended with ${child.exitCode}: ${messages}`);
      const healthy = await fetch(`${metrics}/health`).then(
        async (answer) => (await answer.text()).includes('"true"'),
        () => false,
      );
      if (healthy) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** Ends the process at once. */
  async kill(): Promise<void> {
    const child = this.child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  }

  /** The process stands still: its sockets stay open, and nothing is answered. */
  freeze(): void {
    this.child!.kill("SIGSTOP");
  }

  /** Ends {@link freeze}. */
  thaw(): void {
    this.child!.kill("SIGCONT");
  }

  async dispose(): Promise<void> {
    await this.kill();
    this.folder.remove();
  }
}

/** The files of a server with TLS and of a client that it lets in. */
export interface TlsFiles {
  readonly caFile: string;
  readonly serverCert: string;
  readonly serverKey: string;
  readonly certFile: string;
  readonly keyFile: string;
}

function tlsFlags(tls: TlsFiles | undefined): string[] {
  if (tls === undefined) return [];
  const { caFile, serverCert, serverKey } = tls;
  const server = ["--cert-file", serverCert, "--key-file", serverKey];
  return [...server, "--client-cert-auth", "--trusted-ca-file", caFile];
}

/** Makes an authority, a server's certificate for 127.0.0.1 and a client's, with openssl. */
export function makeCertificates(dir: string): TlsFiles {
  const at = (name: string): string => join(dir, name);
  const run = (...args: string[]): void => {
    const { status, stderr } = spawnSync("openssl", args, { encoding: "utf8" });
    if (status !== 0) throw new Error(`openssl ${args[0]}: ${stderr}`);
  };
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  run(
    "req",
    "-x509",
    ...key,
    "-keyout",
    at("ca.key"),
    "-out",
    at("ca.crt"),
    "-subj",
    "/CN=test-ca",
    "-days",
    "2",
  );
  for (const name of ["server", "client"]) {
    run("req", ...key, "-keyout", at(`${name}.key`), "-out", at(`${name}.csr`), "-subj", `/CN=${name}`);
    writeFileSync(at("san"), "subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n");
    const sign = ["-CA", at("ca.crt"), "-CAkey", at("ca.key"), "-CAcreateserial", "-days", "2"];
    run("x509", "-req", "-in", at(`${name}.csr`), ...sign, "-extfile", at("san"), "-out", at(`${name}.crt`));
  }
  return {
    caFile: at("ca.crt"),
    serverCert: at("server.crt"),
    serverKey: at("server.key"),
    certFile: at("client.crt"),
    keyFile: at("client.key"),
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
