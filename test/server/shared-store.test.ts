import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Api } from "../support/api.ts";
import { ServerProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const rbac = "/apis/rbac.authorization.platform.io/v1";
const configMaps = "/api/v1/namespaces/default/configmaps";

/** How many rounds of a change in one server and a look at it through the other. */
const rounds = 60;

describe("two servers over one data folder, under load", () => {
  const folder = temporaryFolder();
  let servers: [ServerProcess, ServerProcess];
  let admins: [Api, Api];
  let guests: [Api, Api];
  let stopLoad = false;
  let load: Promise<number>;

  beforeAll(async () => {
    const tokens = path.join(folder.path, "tokens.csv");
    writeFileSync(tokens, "admin,root,1,system:masters\nguest,guest,2\n", { mode: 0o600 });
    const flag = `--token-auth-file=${tokens}`;
    const first = await ServerProcess.start(folder.path, flag);
    servers = [first, await ServerProcess.start(folder.path, flag)];
    admins = [servers[0].as("admin"), servers[1].as("admin")];
    guests = [servers[0].as("guest"), servers[1].as("guest")];
    await admins[0].post(configMaps, { metadata: { name: "seen" }, data: {} });
    await admins[0].post(configMaps, { metadata: { name: "counter" }, data: { count: "0" } });
    load = Promise.all([writeOn(admins[0], "a"), writeOn(admins[1], "b")]).then(([a, b]) => a + b);
  });

  afterAll(async () => {
    await servers[0].stop();
    await servers[1].stop();
    folder.remove();
  });

  /** Writes as fast as one client can until the tests are done. */
  async function writeOn(api: Api, prefix: string): Promise<number> {
    let count = 0;
    for (; !stopLoad; count++) {
      const made = await api.post(configMaps, {
        metadata: { name: `${prefix}-${count}` },
        data: { n: String(count) },
      });
      expect(made.status).toBe(201);
    }
    return count;
  }

  it("a grant made through one decides the very next request to the other, and so does its end", async () => {
    const binding = {
      metadata: { name: "guest" },
      roleRef: { kind: "ClusterRole", name: "view" },
      subjects: [{ kind: "User", name: "guest" }],
    };
    for (let round = 0; round < rounds; round++) {
      const [here, there] = round % 2 === 0 ? [0, 1] : [1, 0];
      const granted = await admins[here]!.post(`${rbac}/namespaces/default/rolebindings`, binding);
      expect(granted.status).toBe(201);
      expect((await guests[there]!.get(`${configMaps}/seen`)).status).toBe(200);
      const revoked = await admins[here]!.delete(`${rbac}/namespaces/default/rolebindings/guest`);
      expect(revoked.status).toBe(200);
      expect((await guests[there]!.get(`${configMaps}/seen`)).status).toBe(403);
    }
  });

  it("a write acknowledged by one is read through the other", async () => {
    for (let round = 0; round < rounds; round++) {
      const written = await admins[round % 2]!.patch(`${configMaps}/seen`, {
        data: { round: String(round) },
      });
      const read = await admins[(round + 1) % 2]!.get(`${configMaps}/seen`);
      expect(read.body).toEqual(written.body);
    }
  });

  it("writes serialise: increments through both, retried on conflict, all count", async () => {
    const increment = async (api: Api): Promise<void> => {
      for (;;) {
        const { body } = await api.get(`${configMaps}/counter`);
        body.data.count = String(Number(body.data.count) + 1);
        const { status } = await api.put(`${configMaps}/counter`, body);
        if (status === 200) return;
        expect(status).toBe(409);
      }
    };
    const one = async (api: Api): Promise<void> => {
      for (let i = 0; i < rounds / 2; i++) await increment(api);
    };
    await Promise.all([one(admins[0]), one(admins[1])]);
    expect((await admins[0].get(`${configMaps}/counter`)).body.data.count).toBe(String(rounds));
  });

  it("a watch in one sees the other's commits in order, soon", async () => {
    const { body } = await admins[0].get(`${configMaps}?limit=1`);
    const watch = await admins[1].watch(`${configMaps}?resourceVersion=${body.metadata.resourceVersion}`);
    const latencies: number[] = [];
    let last = 0;
    for (let round = 0; round < rounds; round++) {
      const name = `watched-${round}`;
      await admins[0].post(configMaps, { metadata: { name } });
      const acknowledged = performance.now();
      const frames = await watch.through((frame) => frame.object.metadata.name === name);
      latencies.push(performance.now() - acknowledged);
      for (const frame of frames) {
        const version = Number(frame.object.metadata.resourceVersion);
        expect(version).toBeGreaterThan(last);
        last = version;
      }
    }
    watch.close();
    const median = latencies.toSorted((a, b) => a - b)[rounds / 2]!;
    console.log(
      `an event of the other process arrived ${median.toFixed(1)} ms (median) after its acknowledgement`,
    );
    expect(median).toBeLessThan(50);
  });

  it("nothing was lost under load", async () => {
    stopLoad = true;
    const written = await load;
    expect(written).toBeGreaterThan(0);
    const { body } = await admins[1].get(configMaps);
    const names = body.items.map((item: { metadata: { name: string } }) => item.metadata.name);
    expect(names.filter((name: string) => /^[ab]-\d+$/.test(name))).toHaveLength(written);
    expect(servers[0].log() + servers[1].log()).toBe("");
  });
});
