import path from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import type { Release } from "../../src/base/releases.ts";
import { createMemoryStore } from "../../src/storage/memory/memory-store.ts";
import type { Store } from "../../src/storage/store.ts";
import { ok } from "../api/support.ts";
import { TestServer, type Api } from "../support/api.ts";
import { plinth } from "../support/process.ts";
import { useTemporaryFolders } from "../support/temporary-folders.ts";
import { plinthHere } from "../support/program-here.ts";

const claims = "/apis/resource.k8s.io/v1/namespaces/n/resourceclaims";
const maps = "/api/v1/namespaces/n/configmaps";
const classes = "/apis/resource.k8s.io/v1/deviceclasses";
const map = (name: string) => ({ metadata: { name } });
const claim = (name: string, more: object = {}) => ({ metadata: { name, ...more }, spec: {} });

let store: Store;
beforeEach(() => {
  store = createMemoryStore({ clock: systemClock });
});
afterEach(() => store.close());

async function under(
  release: Release,
  work: (admin: Api) => Promise<void>,
  options: object = {},
): Promise<void> {
  const server = await TestServer.start({ release, vocabulary: "kubernetes", storage: store, ...options });
  try {
    await work(server.admin);
  } finally {
    await server.close();
  }
}

async function owner(admin: Api): Promise<object> {
  const { metadata } = (await ok(admin.get(`${maps}/owner`))).body;
  return { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: metadata.uid, blockOwnerDeletion: true };
}

async function isGone(admin: Api, url: string): Promise<void> {
  await vi.waitFor(async () => expect((await admin.get(url)).status).toBe(404), { timeout: 10_000 });
}

describe("objects of kinds of a later release", () => {
  beforeEach(() =>
    under("1.37", async (admin) => {
      await ok(admin.post("/api/v1/namespaces", map("n")));
      await ok(admin.post(maps, map("owner")));
      await ok(admin.post(claims, claim("owned", { ownerReferences: [await owner(admin)] })));
      await ok(admin.post(claims, claim("free")));
      await ok(admin.post(classes, claim("class.example.com")));
    }),
  );

  it("stay in the store under an earlier release", async () => {
    await under("1.26", async (admin) => {
      expect((await admin.get(`${claims}/free`)).status).toBe(404);
    });
    await under("1.37", async (admin) => {
      await ok(admin.get(`${claims}/free`));
      await ok(admin.get(`${classes}/class.example.com`));
    });
  });

  it.each(["Foreground", "Background", "Orphan"])(
    "don't block the deletion of their owner under an earlier release: %s",
    async (propagationPolicy) => {
      await under("1.26", async (admin) => {
        await ok(admin.ask("DELETE", `${maps}/owner`, { body: { propagationPolicy } }));
        await isGone(admin, `${maps}/owner`);
      });
      // The garbage collector of the later release collects the object whose owner is gone.
      await under("1.37", async (admin) => {
        await isGone(admin, `${claims}/owned`);
        await ok(admin.get(`${claims}/free`));
      });
    },
  );

  it("don't block the deletion of their namespace, and are left in the store", async () => {
    await under("1.26", async (admin) => {
      await ok(admin.delete("/api/v1/namespaces/n"));
      await isGone(admin, "/api/v1/namespaces/n");
    });
    await under("1.37", async (admin) => {
      await ok(admin.get(`${claims}/free`));
    });
  });

  it("aren't those of the alpha kinds with the same names", async () => {
    const alpha = claims.replace("/v1/", "/v1alpha1/");
    const options = { runtimeConfig: "resource.k8s.io/v1alpha1=true" };
    await under(
      "1.26",
      async (admin) => {
        expect((await ok(admin.get(alpha))).body.items).toEqual([]);
        await ok(admin.post(alpha, { metadata: { name: "free" }, spec: { resourceClassName: "c" } }));
      },
      options,
    );
    await under("1.37", async (admin) => {
      expect((await ok(admin.get(`${claims}/free`))).body.spec).not.toHaveProperty("resourceClassName");
    });
  });
});

describe("a data folder in which a later release wrote", () => {
  const folder = useTemporaryFolders();

  it("is described by plinth check, and not converted to another vocabulary", async () => {
    const dir = folder();
    const storage = { engine: "embedded", dir: path.join(dir, "store") } as const;
    const check = () => plinth("check", `--data-dir=${dir}`).stdout;
    await under("1.26", () => Promise.resolve(), { storage });
    expect(check()).not.toContain("releases");
    await under("1.37", () => Promise.resolve(), { storage });
    expect(check()).toContain("written by releases 1.26 to 1.37\n");
    const { code, stderr } = await plinthHere("convert", `--data-dir=${dir}`, "--vocabulary=platform");
    expect(code).not.toBe(0);
    expect(stderr).toContain("has objects of release 1.37: --data-dir converts those of release 1.26 only");
    await under("1.37", async (admin) => void (await ok(admin.get("/api/v1/namespaces/default"))), {
      storage,
    });
  });
});
