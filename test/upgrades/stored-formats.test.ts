import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { formatVersion } from "../../src/storage/lmdb/layout.ts";
import { openLmdbStore } from "../../src/storage/lmdb/lmdb-store.ts";
import { ok } from "../api/support.ts";
import { TestServer } from "../support/api.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const stores = path.join(import.meta.dirname, "stores");
const shop = "/api/v1/namespaces/shop";
const deployments = "/apis/apps/v1/namespaces/shop/deployments";
const scalers = "/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers";
const orders = "/apis/shop.example.com/v1/namespaces/shop/orders";

const folder = temporaryFolder();
afterAll(folder.remove);

/** Unpacks a stored data file into an empty folder. */
function unpack(name: string, release: string): string {
  const dir = path.join(folder.path, `${name}-${release}`);
  mkdirSync(dir);
  writeFileSync(path.join(dir, "data.mdb"), gunzipSync(readFileSync(path.join(stores, name))));
  return dir;
}

it("there is a data file of each format", () => {
  const formats = Array.from({ length: formatVersion }, (_, index) => `format-${index + 1}.mdb.gz`);
  expect(readdirSync(stores).toSorted()).toEqual(formats);
});

/** Each data file was written by the version of the program that had the format, with kubectl. */
describe.each(
  readdirSync(stores).flatMap((name) => ["1.26", "1.37"].map((release) => [name, release] as const)),
)("the data file %s in release %s", (name, release) => {
  it("is served with its objects, takes writes, and is sound afterwards", async () => {
    const dir = unpack(name, release);
    const server = await TestServer.start({
      release: release as "1.26",
      vocabulary: "kubernetes",
      storage: { engine: "embedded", dir },
    });
    try {
      const { admin } = server;
      const settings = (await ok(admin.get(`${shop}/configmaps/settings`))).body;
      expect([settings.data, settings.metadata.labels]).toEqual([
        { color: "red", text: "größe ✓" },
        { app: "shop" },
      ]);
      expect((await ok(admin.get(`${shop}/secrets/token`))).body.data).toEqual({
        key: Buffer.from("fixture-marker").toString("base64"),
      });
      const { spec, metadata } = (await ok(admin.get(`${deployments}/web`))).body;
      expect([spec.replicas, metadata.generation, metadata.managedFields.length]).toEqual([2, 1, 1]);
      expect((await ok(admin.get(`${shop}/services/web`))).body.spec.clusterIP).toMatch(/^10\./);
      expect((await ok(admin.get(`${scalers}/web`))).body.spec.metrics).toHaveLength(1);
      await expect.poll(async () => (await admin.get(`${orders}/first`)).body.spec).toEqual({ amount: 3 });
      const roles = await ok(admin.get("/apis/rbac.authorization.k8s.io/v1/namespaces/shop/roles"));
      expect(roles.body.items).toEqual([]);

      for (const one of [`${shop}/configmaps/settings`, `${deployments}/web`, `${orders}/first`]) {
        const before = (await ok(admin.get(one))).body.metadata.resourceVersion;
        const { body } = await ok(admin.patch(one, { metadata: { labels: { upgraded: "yes" } } }));
        expect(Number(body.metadata.resourceVersion)).toBeGreaterThan(Number(before));
      }
      await ok(admin.delete(`${shop}/secrets/token`));
    } finally {
      await server.close();
    }
    const store = openLmdbStore({ dir, clock: systemClock, retentionMs: Infinity });
    try {
      expect(await store.check()).toEqual([]);
    } finally {
      await store.close();
    }
  });
});
