import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Answer, Api } from "../support/api.ts";
import { freePort, isInstalled, ServerProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { EtcdServer } from "../storage/etcd-server.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const clients = 4;
const retryMs = 20;

/** A client of two replicas, as one behind a load balancer: it tries the other one if a replica doesn't accept the request. */
class BalancedClient {
  retries = 0;
  private next = 0;

  constructor(private readonly replicas: () => readonly Api[]) {}

  /** @throws {Error} for a response that isn't that of a replica which is stopping. */
  async create(name: string): Promise<void> {
    for (let attempt = 0; attempt < 200; attempt++) {
      const api = this.replicas()[this.next++ % 2]!;
      const answer = await api.post(configMaps, { metadata: { name } }).catch(() => undefined);
      // A repeated create of which the first answer was lost.
      if (answer?.status === 201 || (attempt > 0 && answer?.status === 409)) return;
      if (!isRetriable(answer)) throw new Error(`${answer!.status}: ${answer!.text}`);
      this.retries++;
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
    throw new Error(`${name}: no replica accepted the request`);
  }
}

/** No answer, or the refusal of a server that stops or starts. */
function isRetriable(answer: Answer | undefined): boolean {
  return answer === undefined || (answer.status === 503 && answer.headers["retry-after"] !== undefined);
}

describe.skipIf(!isInstalled("etcd"))("a rolling upgrade of two replicas over etcd", () => {
  const folder = temporaryFolder();
  let etcd: EtcdServer;
  let ports: [number, number];
  const servers: [ServerProcess, ServerProcess] = [] as never;
  let apis: [Api, Api];
  const at = (name: string) => path.join(folder.path, name);

  async function start(index: 0 | 1): Promise<void> {
    servers[index] = await ServerProcess.start(
      at(`data-${index}`),
      `--secure-port=${ports[index]}`,
      `--token-auth-file=${at("tokens.csv")}`,
      `--etcd-servers=${etcd.endpoint}`,
      "--shutdown-delay-duration=200ms",
    );
    apis[index] = servers[index].as("admin");
  }

  beforeAll(async () => {
    etcd = await EtcdServer.start();
    ports = [await freePort(), await freePort()];
    apis = [] as never;
    writeFileSync(at("tokens.csv"), "admin,root,1,system:masters\n");
    await start(0);
    await start(1);
  });

  afterAll(async () => {
    for (const server of servers) await server.stop();
    await etcd.dispose();
    folder.remove();
  });

  it("fails no request of clients that try again, and loses no write", async () => {
    let isDone = false;
    const balanced = Array.from({ length: clients }, () => new BalancedClient(() => apis));
    const counts = balanced.map(async (client, number) => {
      let count = 0;
      for (; !isDone; count++) await client.create(`c${number}-${count}`);
      return count;
    });
    for (const index of [0, 1] as const) {
      expect(await servers[index].stop()).toBe(0);
      await start(index);
    }
    isDone = true;
    const created = (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
    const retries = balanced.reduce((sum, client) => sum + client.retries, 0);
    expect([created > 20, retries > 0]).toEqual([true, true]);
    for (const api of apis) {
      const { items } = (await api.get(configMaps)).body as {
        items: { metadata: { name: string } }[];
      };
      expect(items.filter(({ metadata }) => metadata.name.startsWith("c")).length).toBe(created);
    }
  });
});
