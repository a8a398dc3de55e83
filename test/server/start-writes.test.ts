import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { aggregate } from "../../src/controllers/cluster-role-aggregation.ts";
import { createServer } from "../../src/index.ts";
import { firstRevision } from "../../src/storage/entry.ts";
import {
  acquireEnvironment,
  defaultMapBytes,
  releaseEnvironment,
} from "../../src/storage/lmdb/environment.ts";
import { openLmdbStore } from "../../src/storage/lmdb/lmdb-store.ts";
import { until } from "../api/support.ts";
import type { Api } from "../support/api.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { ServerHere } from "../support/server-here.ts";

const rbac = "rbac.authorization.platform.io";
const flowSchemas = "/flowcontrol.apiserver.platform.io/flowschemas/";
/** Their rules are gathered from others by a controller, when the server is ready already. */
const gathered = ["admin", "edit", "view"].map((name) => `/${rbac}/clusterroles//${name}`);
/** What controllers make in every namespace, when the server is ready already. */
const inNamespaces = ["default", "platform-system", "platform-public", "platform-node-lease"].flatMap(
  (where) => [`/core/serviceaccounts/${where}/default`, `/core/configmaps/${where}/root-ca.crt`],
);

/** Made by a controller for each group version, when the server is ready already. */
const registered = "/apiregistration.platform.io/apiservices//";

/** Taken by the server that runs the controllers, and given back by it. */
const leadership = "/coordination.platform.io/leases/platform-system/apiserver-controllers";

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => void (folder = temporaryFolder()));
afterEach(() => folder.remove());

describe("a start on an empty folder", () => {
  test("writes each object once, and the status of each flow schema", async () => {
    const dir = await startOnce();
    const counts = new Map<string, number>();
    for (const key of await keysWritten(dir)) counts.set(key, (counts.get(key) ?? 0) + 1);
    const fixed = [...counts].filter(([key]) => !gathered.includes(key) && key !== leadership);
    expect(counts.get(leadership)).toBe(2);
    expect(fixed.length).toBeGreaterThan(100);
    const twice = fixed.filter(([key]) => key.startsWith(flowSchemas));
    expect(twice.map(([, count]) => count)).toEqual(Array<number>(13).fill(2));
    expect(fixed.filter(([, count]) => count !== 1)).toEqual(twice);
  });

  test("waits for few syncs: one transaction makes the store, three write what it begins with, two where it is", async () => {
    const dir = path.join(folder.path, "store");
    const server = await createServer({ storage: { engine: "embedded", dir } });
    const transactions = await transactionsOf(dir);
    const keys = await keysWritten(dir);
    await server.close();
    expect(transactions).toBeGreaterThanOrEqual(2);
    // Controllers may have begun: each of their writes is a transaction of its own at most.
    const gathering = keys.filter((key) => gathered.includes(key)).length - gathered.length;
    const making = keys.filter((key) => inNamespaces.includes(key) || key.startsWith(registered)).length;
    expect(transactions - gathering - making).toBeLessThanOrEqual(6);
  });

  async function startOnce(): Promise<string> {
    const dir = path.join(folder.path, "store");
    await (await createServer({ storage: { engine: "embedded", dir } })).close();
    return dir;
  }
});

test("a start on an up-to-date folder writes only the identity and leader leases and their events", async () => {
  const tokens = path.join(folder.path, "tokens.csv");
  writeFileSync(tokens, "admin,root,1,system:masters\n");
  const run = async (port: string) => {
    const flags = [`--token-auth-file=${tokens}`, `--secure-port=${port}`];
    const server = await ServerHere.start(folder.path, ...flags);
    await controllersDone(server.as("admin"));
    await server.stop();
    const dir = path.join(folder.path, "store");
    const keys = await keysWritten(dir);
    return { port: new URL(server.url).port, keys, transactions: await transactionsOf(dir) };
  };
  const first = await run("0");
  expect(first.keys.length).toBeGreaterThan(100);
  const second = await run(first.port);
  const more = second.keys.slice(first.keys.length);
  expect(second.keys.slice(0, first.keys.length)).toEqual(first.keys);
  const isEvent = (key: string) => key.startsWith("/core/events/platform-system/apiserver-controllers.");
  const leases = more.filter((key) => !isEvent(key));
  expect(
    leases.filter((key) => !key.startsWith("/coordination.platform.io/leases/platform-system/")),
  ).toEqual([]);
  // One lease is made at the start and removed at the end, the other is taken and given back.
  expect(more.filter((key) => key === leadership)).toHaveLength(2);
  expect(leases).toHaveLength(4);
  // It became the leader, and stopped leading.
  expect(more.length - leases.length).toBe(2);
  expect(second.transactions).toBeLessThanOrEqual(first.transactions + 6);
});

/** Waits until the roles that gather rules have them all, and every namespace has what is made in it. */
async function controllersDone(admin: Api): Promise<void> {
  type Roles = Parameters<typeof aggregate>[1];
  const read = async () => (await admin.get(`/apis/${rbac}/v1/clusterroles`)).body.items as Roles;
  await until(read, (roles) =>
    roles
      .filter((role) => role.aggregationRule !== undefined)
      .every((role) => JSON.stringify(role.rules) === JSON.stringify(aggregate(role, roles))),
  );
  const served = async () => (await admin.get("/apis/apiregistration.platform.io/v1/apiservices")).body.items;
  const groups = async () => (await admin.get("/apis")).body.groups as { versions: object[] }[];
  const versions = (await groups()).flatMap((group) => group.versions).length;
  // The core group has one too, and the group of APIServices has none.
  await until(served, ({ length }) => length === versions);
  const urls = inNamespaces.map((key) => {
    const [, , resource, where, name] = key.split("/");
    return `/api/v1/namespaces/${where}/${resource}/${name}`;
  });
  const codes = async () => Promise.all(urls.map(async (url) => (await admin.get(url)).status));
  await until(codes, (all) => all.every((code) => code === 200));
}

/** The key of each write that the store's history holds, in order. */
async function keysWritten(dir: string): Promise<string[]> {
  const store = openLmdbStore({ dir, clock: systemClock });
  const keys: string[] = [];
  const listener = {
    events: (batch: readonly { key: string }[]) => batch.forEach(({ key }) => void keys.push(key)),
    ended: () => undefined,
  };
  const subscription = store.subscribe({ prefix: "/", after: firstRevision }, listener);
  await subscription.sync();
  await store.close();
  return keys;
}

/** How many transactions have changed something; each waited for a sync. */
async function transactionsOf(dir: string): Promise<number> {
  const environment = acquireEnvironment(dir, defaultMapBytes);
  try {
    return (environment.root.getStats() as { lastTxnId: number }).lastTxnId;
  } finally {
    await releaseEnvironment(environment);
  }
}
