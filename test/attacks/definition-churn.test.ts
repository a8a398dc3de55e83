import { expect, it } from "vitest";
import { definition, definitions, group, order, served, version } from "../api/custom-resources/support.ts";
import { useServer } from "../support/use-server.ts";
import { cpuStopwatch } from "../support/cpu-time.ts";
import { effort } from "../support/effort.ts";

const server = useServer();

const at = `${definitions}/orders.${group}`;

async function gone(path: string): Promise<void> {
  for (const end = Date.now() + 20_000; (await server.admin.get(path)).status !== 404;) {
    if (Date.now() > end) throw new Error(`${path} is still there`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Calls `once` for each index below `times`, four at a time. */
async function repeatedly(times: number, once: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < times) await once(next++);
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
}

const [changes, writes, rounds] = effort([200, 100, 6] as const, [1000, 400, 30] as const);

it(`${changes} changes of a definition during writes of its objects lose no write and block no request`, async () => {
  const path = await served(server.admin, definition());
  const spent = cpuStopwatch();
  const schema = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties";
  const changing = repeatedly(changes, async (index) => {
    const value = { type: "integer", default: index };
    const { status } = await server.admin.patch(at, [{ op: "add", path: `${schema}/turn`, value }], "json");
    // 409: other writers change the same definition concurrently.
    expect([200, 409]).toContain(status);
  });
  const statuses: number[] = [];
  const writing = repeatedly(writes, async (index) => {
    statuses.push((await server.admin.post(path, order(`o${index}`))).status);
    expect((await server.admin.get("/api/v1/namespaces/default")).status).toBe(200);
  });
  await Promise.all([changing, writing]);
  expect(new Set(statuses)).toEqual(new Set([201]));
  const { body } = await server.admin.get(path);
  const turns = (body.items as { spec: { turn: number } }[]).map(({ spec }) => spec.turn ?? -1);
  expect(turns).toHaveLength(writes);
  // Objects written after a schema change have the new defaults.
  expect(new Set(turns).size).toBeGreaterThan(20);
  expect(spent()).toBeLessThan(40_000);
  await server.admin.delete(at);
  await gone(at);
}, 60_000);

it(`a definition created and deleted ${rounds} times ends the watches of its objects, and leaks none`, async () => {
  const before = await gaugeOfWatches();
  for (let round = 0; round < rounds; round++) {
    const path = await served(server.admin, definition());
    const watches = await Promise.all([1, 2, 3, 4].map(() => server.admin.watch(path)));
    expect(await gaugeOfWatches()).toBeGreaterThanOrEqual(before + watches.length);
    expect((await server.admin.post(path, order(`o${round}`))).status).toBe(201);
    for (const watch of watches) expect((await watch.next()).object.metadata.name).toBe(`o${round}`);
    await server.admin.delete(at);
    await gone(at);
    const last = await Promise.all(watches.map((watch) => watch.through(({ type }) => type === "DELETED")));
    for (const frames of last) expect(frames.at(-1)!.object.metadata.name).toBe(`o${round}`);
    for (const watch of watches) watch.close();
    expect((await server.admin.get(path)).status).toBe(404);
    expect((await server.admin.get("/readyz")).status).toBe(200);
  }
  // The connections of the last round may still be closing.
  for (const end = Date.now() + 5000; (await gaugeOfWatches()) > before && Date.now() < end;) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(await gaugeOfWatches()).toBe(before);
}, 60_000);

/** The number of open watches of the group, from the server's metrics. */
async function gaugeOfWatches(): Promise<number> {
  const { text } = await server.admin.get("/metrics");
  const lines = text
    .split("\n")
    .filter(
      (line) => line.startsWith("apiserver_longrunning_requests{") && line.includes(`group="${group}"`),
    );
  return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

it("an invalid change of a definition leaves the served one unchanged", async () => {
  const path = await served(server.admin, definition());
  const versions = [version("v1", { schema: { openAPIV3Schema: { type: "object", pattern: "(" } } })];
  expect((await server.admin.patch(at, { spec: { versions } })).status).toBe(422);
  expect((await server.admin.post(path, order("a", { size: 11 }))).status).toBe(422);
  expect((await server.admin.post(path, order("a"))).status).toBe(201);
});
