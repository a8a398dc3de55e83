import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { StatusError } from "../../src/base/status-error.ts";
import { createOrUpdate, retryRaced } from "../../src/controllers/create-or-update.ts";
import { ConfigMap } from "../../src/kinds/core/config-map.ts";
import { Client, type NewObject } from "../../src/resources/clients/client.ts";
import type { Engine } from "../../src/resources/engine/engine.ts";
import type { ApiObject } from "../../src/schema/kind.ts";
import { createMemoryStore } from "../../src/storage/memory/memory-store.ts";
import type { Store } from "../../src/storage/store.ts";
import { engineOver } from "../resources/engine.ts";
import { ManualClock } from "../support/manual-clock.ts";

type Map = ApiObject & { data?: Record<string, string> };

const reference = { apiVersion: "v1", kind: "ConfigMap", namespace: "default", name: "shared" };
let store: Store;
let engine: Engine;
let client: Client;

beforeEach(() => {
  store = createMemoryStore({ clock: new ManualClock() });
  engine = engineOver(store, [ConfigMap]);
  client = new Client(engine, { name: "somebody", uid: "", groups: [], extra: {} });
});
afterEach(async () => {
  engine.pages.close();
  await store.close();
});

function withKey(existing: Map | undefined, key: string): NewObject {
  const { apiVersion, kind, namespace, name } = reference;
  const metadata = { ...existing?.metadata, namespace, name };
  return { apiVersion, kind, metadata, data: { ...existing?.data, [key]: "yes" } };
}

const add = (key: string, before?: () => Promise<void>) => async () => {
  let read: Map | undefined;
  await createOrUpdate<Map>(client, reference, (existing) => {
    read = existing;
    return before === undefined ? withKey(existing, key) : undefined;
  });
  if (before === undefined) return;
  await before();
  const object = withKey(read, key);
  await (read === undefined ? client.add(object) : client.update(object));
};

const dataOf = async () => (await client.get<Map>(reference)).data;

describe("createOrUpdate", () => {
  test("creates the object when it is missing and updates it when it exists", async () => {
    await add("first")();
    await add("second")();
    expect(await dataOf()).toEqual({ first: "yes", second: "yes" });
  });

  test("writes nothing when the existing object is as desired", async () => {
    await add("first")();
    const { resourceVersion } = (await client.get(reference)).metadata;
    await createOrUpdate(client, reference, () => undefined);
    expect((await client.get(reference)).metadata.resourceVersion).toBe(resourceVersion);
  });
});

describe("retryRaced", () => {
  test("keeps both changes when another write creates or updates the object first", async () => {
    const others = ["created", "updated"];
    const other = async () => {
      const key = others.shift();
      if (key !== undefined) await add(key)();
    };
    await retryRaced(3, add("own", other));
    expect(await dataOf()).toEqual({ created: "yes", updated: "yes", own: "yes" });
  });

  test("throws the conflict of the last attempt when every attempt loses the race", async () => {
    let attempts = 0;
    const other = () => add(`other${++attempts}`)();
    await expect(retryRaced(3, add("own", other))).rejects.toMatchObject({ reason: "Conflict" });
    expect(attempts).toBe(3);
  });

  test("throws at once when the error is not a race", async () => {
    let attempts = 0;
    const refused = () => {
      attempts++;
      return Promise.reject(new StatusError("Forbidden", "no"));
    };
    await expect(retryRaced(3, refused)).rejects.toMatchObject({ reason: "Forbidden" });
    expect(attempts).toBe(1);
  });
});
