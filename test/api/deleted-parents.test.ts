import { afterEach, describe, expect, it } from "vitest";
import type { ApiObject } from "../../src/schema/kind.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import { createMemoryStore } from "../../src/storage/memory/memory-store.ts";
import type { Store, Write } from "../../src/storage/store.ts";
import { TestServer, storeOf } from "../support/api.ts";
import { configMap, namespace, ok, until } from "./support.ts";
import { definition, definitions, group, order, served } from "./custom-resources/support.ts";

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** A server on which the creation of objects named `late` waits between admission and the store. */
async function startHolding() {
  let release!: () => void;
  const released = new Promise<void>((resolve) => (release = resolve));
  let reached!: () => void;
  const held = new Promise<void>((resolve) => (reached = resolve));
  server = await TestServer.start({
    admissionPlugins: [
      {
        name: "hold",
        concerns: (operation) => operation === "CREATE",
        async validate({ object }) {
          if ((object as ApiObject).metadata.name !== "late") return;
          reached();
          await released;
        },
      },
    ],
  });
  return { admin: server.admin, held, release };
}

const gone = (path: string) =>
  until(
    () => server!.admin.get(path),
    ({ status }) => status === 404,
  );

describe("an object whose creation was admitted before its namespace was deleted", () => {
  it("is refused with 404 when the namespace is gone at commit", async () => {
    const { admin, held, release } = await startHolding();
    await ok(admin.post("/api/v1/namespaces", namespace("short")));
    const late = admin.post("/api/v1/namespaces/short/configmaps", configMap("late"));
    await held;
    await ok(admin.delete("/api/v1/namespaces/short"));
    await gone("/api/v1/namespaces/short");
    release();
    expect((await late).status).toBe(404);
    expect((await admin.get("/api/v1/namespaces/short/configmaps/late")).status).toBe(404);
  });

  it("is refused with 403 when the namespace is terminating at commit", async () => {
    const { admin, held, release } = await startHolding();
    await ok(admin.post("/api/v1/namespaces", namespace("short")));
    const kept = configMap("kept", {}, { finalizers: ["example.com/f"] });
    await ok(admin.post("/api/v1/namespaces/short/configmaps", kept));
    const late = admin.post("/api/v1/namespaces/short/configmaps", configMap("late"));
    await held;
    await ok(admin.delete("/api/v1/namespaces/short"));
    release();
    const refused = await late;
    expect([refused.status, refused.body.details.causes[0].reason]).toEqual([403, "NamespaceTerminating"]);
  });

  it("is created when the namespace was only changed", async () => {
    const { admin, held, release } = await startHolding();
    const late = admin.post("/api/v1/namespaces/default/configmaps", configMap("late"));
    await held;
    await ok(admin.patch("/api/v1/namespaces/default", { metadata: { labels: { a: "b" } } }));
    release();
    expect((await late).status).toBe(201);
  });
});

describe("an object whose creation was admitted before its definition was deleted", () => {
  it("is refused, and doesn't reappear with the next definition of that name", async () => {
    const { admin, held, release } = await startHolding();
    const orders = await served(admin, definition());
    const late = admin.post(orders, order("late"));
    await held;
    await ok(admin.delete(`${definitions}/orders.${group}`));
    await gone(`${definitions}/orders.${group}`);
    release();
    expect((await late).status).toBe(404);
    expect((await admin.get(await served(admin, definition()))).body.items).toEqual([]);
  });

  it("is refused with 405 while the definition is being deleted", async () => {
    const { admin, held, release } = await startHolding();
    const orders = await served(admin, definition());
    await ok(
      admin.post(orders, order("kept", { size: 1 }, { metadata: { name: "kept", finalizers: ["a.b/c"] } })),
    );
    const late = admin.post(orders, order("late"));
    await held;
    await ok(admin.delete(`${definitions}/orders.${group}`));
    release();
    expect((await late).status).toBe(405);
  });

  it("is created when only the status of the definition was written", async () => {
    const { admin, held, release } = await startHolding();
    const orders = await served(admin, definition());
    const late = admin.post(orders, order("late"));
    await held;
    await ok(admin.patch(`${definitions}/orders.${group}`, { metadata: { labels: { a: "b" } } }));
    release();
    expect((await late).status).toBe(201);
  });
});

it("a create is refused when another server deletes the definition right before the commit", async () => {
  const inner = createMemoryStore({ clock: systemClock });
  const definitionKey = `/apiextensions.platform.io/customresourcedefinitions//orders.${group}`;
  const commit = async (write: Write) => {
    if (write.key.endsWith("/orders/default/late")) {
      const stored = await inner.get(definitionKey);
      if (stored !== undefined)
        await inner.commit({ kind: "delete", key: definitionKey, expected: stored.revision });
    }
    return inner.commit(write);
  };
  const storage = Object.assign(Object.create(inner) as Store, { commit });
  server = await TestServer.start({ storage });
  const orders = await served(server.admin, definition());
  expect((await server.admin.post(orders, order("late"))).status).toBe(404);
  expect(await inner.get(`/${group}/orders/default/late`)).toBeUndefined();
});

it("stored objects of a deleted definition are removed before a new definition of that name is created", async () => {
  server = await TestServer.start();
  const { admin } = server;
  const orders = await served(admin, definition());
  await ok(admin.post(orders, order("old")));
  const store = storeOf(server);
  const key = `/${group}/orders/default/old`;
  const { header, body, revisionAt, revision } = (await store.get(key))!;
  const digits = String(revision).length;
  const text = Buffer.concat([body.subarray(0, revisionAt), body.subarray(revisionAt + digits)]);
  await ok(admin.delete(`${definitions}/orders.${group}`));
  await gone(`${definitions}/orders.${group}`);
  await store.commit({ kind: "create", key, draft: { header, body: text, revisionAt } });
  await admin.post(`${definitions}?dryRun=All`, definition());
  expect(await store.get(key)).toBeDefined();
  expect((await admin.get(await served(admin, definition()))).body.items).toEqual([]);
  expect(await store.get(key)).toBeUndefined();
});
