import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { temporaryFolder } from "./support.ts";

/** Why tests that need etcd can't run here, or `undefined` when they can. */
export const etcdMissing: string | undefined =
  spawnSync("etcd", ["--version"]).status === 0 ? undefined : "there is no etcd on PATH";

/** An etcd of one member on the loopback interface, with its data in a folder of its own. */
export class EtcdServer {
  private child: ChildProcess | undefined;
  private readonly folder = temporaryFolder();

  private constructor(
    private readonly clientPort: number,
    private readonly peerPort: number,
    private readonly options: readonly string[],
  ) {}

  static async start(...options: string[]): Promise<EtcdServer> {
    const server = new EtcdServer(await freePort(), await freePort(), options);
    await server.run();
    return server;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.clientPort}`;
  }

  /** Starts the member; again after {@link kill}, with the same data. */
  async run(): Promise<void> {
    const peer = `http://127.0.0.1:${this.peerPort}`;
    const flags = [
      ["--data-dir", this.folder.path],
      ["--listen-client-urls", this.endpoint],
      ["--advertise-client-urls", this.endpoint],
      ["--listen-peer-urls", peer],
      ["--initial-advertise-peer-urls", peer],
      ["--initial-cluster", `default=${peer}`],
      ["--heartbeat-interval", "10"],
      ["--election-timeout", "100"],
      ["--log-level", "error"],
    ].flat();
    const child = spawn("etcd", [...flags, "--unsafe-no-fsync", ...this.options], { stdio: "ignore" });
    this.child = child;
    for (;;) {
      if (child.exitCode !== null) throw new Error(`etcd ended with ${child.exitCode}`);
      const healthy = await fetch(`${this.endpoint}/health`).then(
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
    child.kill("SIGKILL");
    await once(child, "exit");
  }

  async dispose(): Promise<void> {
    await this.kill();
    this.folder.remove();
  }
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
