import { spawn, type ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Api } from "../support/api.ts";
import { freePort, isInstalled, ServerProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const rbac = "/apis/rbac.authorization.platform.io/v1";
const configMaps = "/api/v1/namespaces/default/configmaps";
const rounds = 20;

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

describe.skipIf(!isInstalled("etcd"))(
  "two servers over one etcd see one truth (skipped where etcd is missing)",
  () => {
    const folder = temporaryFolder();
    let etcd: ChildProcess;
    let servers: [ServerProcess, ServerProcess];
    let admins: [Api, Api];
    let guests: [Api, Api];

    beforeAll(async () => {
      const [client, peer] = [await freePort(), await freePort()];
      const address = `http://127.0.0.1:${client}`;
      const peers = `http://127.0.0.1:${peer}`;
      etcd = spawn("etcd", [
        `--data-dir=${path.join(folder.path, "etcd")}`,
        `--listen-client-urls=${address}`,
        `--advertise-client-urls=${address}`,
        `--listen-peer-urls=${peers}`,
        `--initial-advertise-peer-urls=${peers}`,
        `--initial-cluster=default=${peers}`,
      ]);
      await new Promise<void>((resolve, reject) => {
        etcd.stderr!.on("data", (chunk: Buffer) => {
          if (chunk.toString().includes("ready to serve client requests")) resolve();
        });
        etcd.once("exit", (code) => reject(new Error(`etcd ended with ${code}`)));
      });
      const tokens = path.join(folder.path, "tokens.csv");
      writeFileSync(tokens, "admin,root,1,system:masters\nguest,guest,2\n");
      const controllers = "--controllers=*,-root-ca-cert-publisher";
      const flags = [`--token-auth-file=${tokens}`, `--etcd-servers=${address}`, controllers];
      const first = await ServerProcess.start(path.join(folder.path, "one"), ...flags);
      servers = [first, await ServerProcess.start(path.join(folder.path, "two"), ...flags)];
      admins = [servers[0].as("admin"), servers[1].as("admin")];
      guests = [servers[0].as("guest"), servers[1].as("guest")];
    });

    afterAll(async () => {
      for (const server of servers ?? []) await server.stop();
      const ended = new Promise((resolve) => etcd.once("exit", resolve));
      etcd.kill("SIGTERM");
      await ended;
      folder.remove();
    });

    it("what one writes the other reads, lists and watches at once", async () => {
      const { body } = await admins[1].get(`${configMaps}?limit=1`);
      const watch = await admins[1].watch(`${configMaps}?resourceVersion=${body.metadata.resourceVersion}`);
      for (let round = 0; round < rounds; round++) {
        const name = `shared-${round}`;
        const made = await admins[0].post(configMaps, { metadata: { name } });
        expect(made.status).toBe(201);
        expect((await admins[1].get(`${configMaps}/${name}`)).body).toEqual(made.body);
        expect((await admins[1].get(configMaps)).body.items).toHaveLength(round + 1);
        expect(await watch.next()).toEqual({ type: "ADDED", object: made.body });
      }
      watch.close();
    });

    it("a grant made through one decides the very next request to the other, and so does its end", async () => {
      const binding = {
        metadata: { name: "guest" },
        roleRef: { kind: "ClusterRole", name: "view" },
        subjects: [{ kind: "User", name: "guest" }],
      };
      for (let round = 0; round < rounds; round++) {
        const [here, there] = round % 2 === 0 ? [0, 1] : [1, 0];
        expect((await admins[here]!.post(`${rbac}/namespaces/default/rolebindings`, binding)).status).toBe(
          201,
        );
        expect((await guests[there]!.get(configMaps)).status).toBe(200);
        expect((await admins[here]!.delete(`${rbac}/namespaces/default/rolebindings/guest`)).status).toBe(
          200,
        );
        expect((await guests[there]!.get(configMaps)).status).toBe(403);
      }
    });

    it("another server decides by a grant, and by its end, within 100 ms of the answer", async () => {
      const binding = {
        metadata: { name: "guest-in-time" },
        roleRef: { kind: "ClusterRole", name: "view" },
        subjects: [{ kind: "User", name: "guest" }],
      };
      const bindings = `${rbac}/namespaces/default/rolebindings`;
      // A busy machine makes every answer late: what counts is how much later a changed decision comes than one that is
      // asked for again.
      const times = { granted: [] as number[], revoked: [] as number[], again: [] as number[] };
      const until = async (api: Api, status: number): Promise<number> => {
        const begun = performance.now();
        while ((await api.get(configMaps)).status !== status);
        return performance.now() - begun;
      };
      for (let round = 0; round < rounds; round++) {
        const [here, there] = round % 2 === 0 ? [0, 1] : [1, 0];
        expect((await admins[here]!.post(bindings, binding)).status).toBe(201);
        times.granted.push(await until(guests[there]!, 200));
        times.again.push(await until(guests[there]!, 200));
        expect((await admins[here]!.delete(`${bindings}/guest-in-time`)).status).toBe(200);
        times.revoked.push(await until(guests[there]!, 403));
        times.again.push(await until(guests[there]!, 403));
      }
      const soonest = medianOf(times.again);
      expect(medianOf(times.granted)).toBeLessThan(soonest + 100);
      expect(medianOf(times.revoked)).toBeLessThan(soonest + 100);
    });

    it("of two writes on the same version one wins", async () => {
      const { body } = await admins[0].post(configMaps, {
        metadata: { name: "contended" },
        data: { by: "nobody" },
      });
      const write = (api: Api, by: string) => api.put(`${configMaps}/contended`, { ...body, data: { by } });
      const answers = await Promise.all([write(admins[0], "first"), write(admins[1], "second")]);
      expect(answers.map((answer) => answer.status).toSorted()).toEqual([200, 409]);
    });
  },
);
