import { writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { ok } from "../api/support.ts";
import { PostgresServer, postgresMissing } from "../storage/postgres-server.ts";
import type { Answer, Api } from "../support/api.ts";
import { freePort, ServerProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const maps = "/api/v1/namespaces/default/configmaps";
/** Text in objects that are encrypted. */
const marker = "marker-in-plain-text";

const encrypted = (resources: readonly string[]) => ({
  apiVersion: "apiserver.config.platform.io/v1",
  kind: "EncryptionConfiguration",
  resources: [
    {
      resources,
      providers: [{ aesgcm: { keys: [{ name: "key", secret: Buffer.alloc(32, 1).toString("base64") }] } }],
    },
  ],
});

const versionOf = ({ body }: Answer) =>
  Number((body["metadata"] as { resourceVersion: string }).resourceVersion);

/** Creates objects one after the other until it is stopped; an object whose create has no answer may exist. */
class Creator {
  readonly acknowledged: string[] = [];
  private stopped = false;
  private readonly running: Promise<void>;

  constructor(
    private readonly api: Api,
    private readonly name: string,
  ) {
    this.running = this.run();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.running;
  }

  private async run(): Promise<void> {
    for (let n = 0; !this.stopped; n++) {
      const name = `${this.name}-${n}`;
      const { status } = await this.api.post(maps, { metadata: { name }, data: { marker } });
      if (status === 201) this.acknowledged.push(name);
      else await delay(20);
    }
  }
}

const title = postgresMissing === undefined ? "--workers over PostgreSQL" : `skipped, ${postgresMissing}`;
describe.skipIf(postgresMissing !== undefined)(title, () => {
  const folder = temporaryFolder();
  const databases: PostgresServer[] = [];
  let server: ServerProcess | undefined;
  afterEach(async () => {
    await server?.stop("SIGKILL");
  });
  afterAll(async () => {
    for (const database of databases) await database.dispose();
    folder.remove();
  });
  const opened = (database: PostgresServer): PostgresServer => {
    databases.push(database);
    return database;
  };

  test(
    "several processes with encrypted objects lose no acknowledged write to a synchronous standby, and detect the loss of an asynchronous one",
    { timeout: 60_000 },
    async () => {
      const ports = [await freePort(), await freePort()];
      const first = opened(await PostgresServer.start());
      const second = opened(await first.startStandby(ports[0]!));
      first.waitForStandby();
      const hosts = [first.port, ...ports].map((port) => `127.0.0.1:${port}`);
      const url = `${first.url.replace(hosts[0]!, hosts.join(","))}?target_session_attrs=read-write`;
      const tokens = path.join(folder.path, "tokens.csv");
      writeFileSync(tokens, "admin,root,1,system:masters\n");
      const encryption = path.join(folder.path, "encryption.yaml");
      writeFileSync(encryption, JSON.stringify(encrypted(["configmaps"])));
      const flags = [
        `--postgres-url=${url}`,
        `--encryption-provider-config=${encryption}`,
        `--token-auth-file=${tokens}`,
        "--workers=2",
        "--log-level=info",
      ];
      server = await ServerProcess.start(path.join(folder.path, "data"), ...flags);
      const { log } = server;
      await expect.poll(() => log().includes("2 workers serve"), { timeout: 20_000 }).toBe(true);
      const clients = Array.from({ length: 4 }, () => server!.as("admin"));
      const [one, other] = clients as [Api, Api, Api, Api];

      // Each worker sees what the other one has written, and one process leads.
      for (let n = 0; n < 3; n++) {
        await ok(one.post(maps, { metadata: { name: `map-${n}` } }));
        for (const api of clients) await ok(api.get(`${maps}/map-${n}`));
      }
      // The controllers of the leader create it.
      await expect.poll(async () => (await other.get(`${maps}/root-ca.crt`)).status).toBe(200);
      expect(log().match(/this process is the leader/g)).toHaveLength(1);

      const watches = await Promise.all(clients.map((api) => api.watch(maps)));
      const creators = clients.map((api, index) => new Creator(api, `created-${index}`));
      const written = () => creators.map(({ acknowledged }) => acknowledged.length);
      const more = async (count: number) => {
        const before = written();
        const isDone = () => written().every((now, index) => now >= before[index]! + count);
        await expect.poll(isDone, { timeout: 20_000 }).toBe(true);
      };
      await more(5);
      await first.kill();
      second.promote();
      await more(5);
      for (const creator of creators) await creator.stop();
      const acknowledged = creators.flatMap((creator) => creator.acknowledged);
      const names = async (api: Api) =>
        new Set(
          (await ok(api.get(maps))).body.items.map(
            ({ metadata }: { metadata: { name: string } }) => metadata.name,
          ),
        );
      const stored = await names(one);
      expect(acknowledged.filter((name) => !stored.has(name))).toEqual([]);
      // No watch missed an event.
      for (const watch of watches) {
        const missing = new Set(acknowledged);
        while (missing.size > 0) missing.delete((await watch.next()).object.metadata.name);
        watch.close();
      }

      // A third server replicates asynchronously, and takes over without the last write.
      const third = opened(await second.startStandby(ports[1]!));
      third.detach();
      const lost = versionOf(await ok(one.post(maps, { metadata: { name: "lost" } })));
      const watch = await one.watch(`${maps}?resourceVersion=${lost}`);
      await second.kill();
      third.promote();
      const ended = await watch.next();
      expect(ended).toMatchObject({ type: "ERROR", object: { code: 410, reason: "Expired" } });
      expect((await one.get(`${maps}/lost`)).status).toBe(404);
      expect(versionOf(await ok(one.post(maps, { metadata: { name: "later" } })))).toBeGreaterThan(lost);
      expect(server.log()).toContain("the database has lost writes");
      const has = (text: string, column: string) => `bool_or(position('${text}'::bytea in ${column}) > 0)`;
      const columns = `${has(marker, "body")}, ${has("enc:aesgcm:v1:key", "header")}`;
      expect(third.sql(`select ${columns} from plinth.entries`)).toBe("f|t");
      expect(await server.stop()).toBe(0);
    },
  );
});
