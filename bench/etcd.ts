/** An etcd of one member for servers that share it, as a process of the bench. */
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { start, stop } from "./processes.ts";
import { temporaryFolder } from "./subject.ts";

export interface Etcd {
  readonly address: string;
  close(): Promise<void>;
}

/** Returns the reason why etcd can't be measured; undefined if it is installed. */
export function etcdMissing(): string | undefined {
  return spawnSync("etcd", ["--version"]).status === 0 ? undefined : "there is no etcd on PATH";
}

/** Starts etcd on the loopback address, with synced writes as in production. */
export async function startEtcd(): Promise<Etcd> {
  const folder = temporaryFolder();
  const [address, peers] = [await freeAddress(), await freeAddress()];
  const child = start(
    "etcd",
    [
      `--data-dir=${folder}`,
      `--listen-client-urls=${address}`,
      `--advertise-client-urls=${address}`,
      `--listen-peer-urls=${peers}`,
      `--initial-advertise-peer-urls=${peers}`,
      `--initial-cluster=default=${peers}`,
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  await new Promise<void>((resolve, reject) => {
    let text = "";
    child.stderr!.on("data", (part: Buffer) => {
      text = (text + part.toString()).slice(-10_000);
      if (text.includes("ready to serve client requests")) resolve();
    });
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`etcd ended with ${code}: ${text}`)));
  });
  return {
    address,
    async close() {
      await stop(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Returns a loopback address with a free port. */
function freeAddress(): Promise<string> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(`http://127.0.0.1:${port}`));
    });
  });
}
