import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestServer, type Answer } from "../support/api.ts";
import { ManualClock, configMap, namesIn, namespace, ok, roleKinds } from "./support.ts";

const path = "/api/v1/namespaces/paged/configmaps";
const total = 25;
const minutes = 60_000;
let server: TestServer;
let clock: ManualClock;
beforeAll(async () => {
  clock = new ManualClock();
  server = await TestServer.start({ clock });
  await ok(server.admin.post("/api/v1/namespaces", namespace("paged")));
  for (let i = 0; i < total; i++) {
    const labels = { parity: i % 2 === 0 ? "even" : "odd" };
    await ok(server.admin.post(path, configMap(`m-${String(i).padStart(2, "0")}`, {}, { labels })));
  }
});
afterAll(() => server.close());

/** Every chunk of a list. */
async function chunks(at: string, query: string): Promise<Answer[]> {
  const found: Answer[] = [];
  for (let token = ""; ;) {
    const next = token === "" ? "" : `&continue=${encodeURIComponent(token)}`;
    const answer = await ok(server.admin.get(`${at}?${query}${next}`));
    found.push(answer);
    token = answer.body.metadata.continue ?? "";
    if (token === "") return found;
  }
}

describe("C-4.4 lists in chunks", () => {
  test.each([1, 4, 5, 24, 25, 26, 1000])(
    "C-4.4-01 C-4.4-02 C-4.4-03 limit=%d returns every item once, at one resourceVersion",
    async (limit) => {
      const parts = await chunks(path, `limit=${limit}`);
      expect(parts).toHaveLength(Math.ceil(total / limit));
      for (const part of parts) expect(part.body.items.length).toBeLessThanOrEqual(limit);
      const names = parts.flatMap(namesIn);
      expect(names).toEqual([...new Set(names)].toSorted());
      expect(names).toHaveLength(total);
      expect(new Set(parts.map(({ body }) => body.metadata.resourceVersion)).size).toBe(1);
    },
  );

  test("C-2.2-07 remainingItemCount is the number of items that follow", async () => {
    const parts = await chunks(path, "limit=10");
    expect(parts.map(({ body }) => body.metadata.remainingItemCount)).toEqual([15, 5, undefined]);
  });

  test.each([
    ["a label selector", "limit=5&labelSelector=parity%3Deven"],
    ["a field selector", "limit=5&fieldSelector=metadata.name!%3Dx"],
    ["no limit", ""],
    ["a limit that holds everything", "limit=25"],
    ["limit=0", "limit=0"],
  ])("C-2.2-08 remainingItemCount is absent with %s", async (_what, query) => {
    const { body } = await ok(server.admin.get(`${path}?${query}`));
    expect(body.metadata).not.toHaveProperty("remainingItemCount");
  });

  test("C-4.4-02 chunks with a selector have every matching item once", async () => {
    const parts = await chunks(path, "limit=4&labelSelector=parity%3Dodd");
    expect(parts.flatMap(namesIn)).toHaveLength(12);
    expect(parts.slice(0, -1).every(({ body }) => body.items.length === 4)).toBe(true);
  });

  test("C-4.4-04 C-4.4-05 later changes appear in a watch from the list's resourceVersion and in no later chunk", async () => {
    const first = await ok(server.admin.get(`${path}?limit=10`));
    await ok(server.admin.delete(`${path}/m-20`));
    await ok(server.admin.post(path, configMap("m-21-new")));
    await ok(server.admin.patch(`${path}/m-15`, { data: { changed: "yes" } }));
    const rest = await ok(
      server.admin.get(`${path}?limit=100&continue=${encodeURIComponent(first.body.metadata.continue)}`),
    );
    expect(namesIn(rest)).toContain("m-20");
    expect(namesIn(rest)).not.toContain("m-21-new");
    expect(
      rest.body.items.find((one: { metadata: { name: string } }) => one.metadata.name === "m-15").data,
    ).toBeUndefined();
    const watching = await server.admin.watch(
      `${path}?resourceVersion=${rest.body.metadata.resourceVersion}`,
    );
    const seen = await watching.through(({ object }) => object.metadata.name === "m-15");
    watching.close();
    expect(seen.map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual([
      "DELETED m-20",
      "ADDED m-21-new",
      "MODIFIED m-15",
    ]);
    await ok(server.admin.post(path, configMap("m-20", {}, { labels: { parity: "even" } })));
    await ok(server.admin.delete(`${path}/m-21-new`));
  });

  test.each([
    ["limit=-1", 422],
    ["limit=ten", 400],
    ["limit=9223372036854775808", 400],
    ["limit=1&continue=nonsense", 400],
    ["limit=1&continue=e30", 400],
    ["limit=1&resourceVersionMatch=Exact&continue=e30", 422],
  ])("%s is refused with %d", async (query, status) => {
    expect((await server.admin.get(`${path}?${query}`)).status).toBe(status);
  });

  test("the largest possible limit returns all items", async () => {
    expect((await server.admin.get(`${path}?limit=9223372036854775807`)).body.items).toHaveLength(total);
  });
});

describe.each(roleKinds)("$kind", ({ list, make }) => {
  test("A-4.2-20 list supports limit and continue", async () => {
    for (const name of ["p1", "p2", "p3"])
      await ok(server.admin.post(list, make(name, { labels: { page: "1" } })));
    const parts = await chunks(list, "limit=2&labelSelector=page");
    expect(parts.map((part) => namesIn(part).length)).toEqual([2, 1]);
  });

  test("A-4.2-31 deletecollection supports limit and continue", async () => {
    const query = `${list}?labelSelector=page&limit=2`;
    const { body } = await ok(server.admin.delete(query));
    expect((await server.admin.get(`${list}?labelSelector=page`)).body.items).toHaveLength(1);
    expect(body).toMatchObject({ kind: "Status", status: "Success" });
    await ok(server.admin.delete(`${query}&continue=${encodeURIComponent(body.metadata.continue)}`));
    expect((await server.admin.get(`${list}?labelSelector=page`)).body.items).toHaveLength(0);
    expect((await server.admin.delete(`${list}?limit=-1`)).status).toBe(422);
  });
});

describe("expired versions and continue tokens", () => {
  test("A-8-01 C-7-05 C-7-06 C-8-01 C-8-02 a continue token and a resourceVersion are 410 after 5 minutes, not before", async () => {
    const first = await ok(server.admin.get(`${path}?limit=5`));
    const roles = await ok(server.admin.get(`${roleKinds[0].list}?limit=5`));
    const { resourceVersion } = first.body.metadata;
    await ok(server.admin.patch(`${path}/m-00`, { data: { later: "1" } }));
    const asks = [
      `${path}?limit=5&continue=${encodeURIComponent(first.body.metadata.continue)}`,
      `${roleKinds[0].list}?limit=5&continue=${encodeURIComponent(roles.body.metadata.continue)}`,
      `${path}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`,
      `${path}?resourceVersion=${resourceVersion}&limit=5`,
    ];
    await clock.advance(4.5 * minutes);
    for (const ask of asks) expect((await server.admin.get(ask)).status, ask).toBe(200);
    await ok(server.admin.patch(`${path}/m-00`, { data: { later: "2" } }));
    await clock.advance(7 * minutes);
    for (const ask of asks) {
      const { status, body } = await server.admin.get(ask);
      expect([status, body.reason, body.code], ask).toEqual([410, "Expired", 410]);
    }
    const token = await server.admin.get(asks[0]!);
    expect(token.body.message).toContain("The provided continue parameter is too old");
    const notOlder = `${path}?resourceVersion=${resourceVersion}&resourceVersionMatch=NotOlderThan&limit=5`;
    expect((await server.admin.get(notOlder)).status).toBe(200);
  });

  test("C-7-06 the error for an expired continue token has a token for the rest of the list at the latest revision", async () => {
    const orders = ["limit=5", "limit=5&sort=metadata.namespace"];
    const lists = await Promise.all(orders.map((query) => ok(server.admin.get(`${path}?${query}`))));
    await ok(server.admin.patch(`${path}/m-06`, { data: { later: "5" } }));
    await clock.advance(12 * minutes);
    for (const [index, query] of orders.entries()) {
      const next = `${path}?${query}&continue=`;
      const { metadata, items } = lists[index]!.body;
      const expired = await server.admin.get(next + encodeURIComponent(metadata.continue));
      expect(expired).toMatchObject({ status: 410, body: { reason: "Expired" } });
      const rest = await ok(server.admin.get(next + encodeURIComponent(expired.body.metadata.continue)));
      expect(namesIn(rest)[0]).toBe("m-05");
      expect(rest.body.items[1].data.later).toBe("5");
      expect(Number(rest.body.metadata.resourceVersion)).toBeGreaterThan(Number(metadata.resourceVersion));
      // Only sorted lists count the rest of an expired list.
      expect(rest.body.metadata.remainingItemCount).toBe(query.includes("sort") ? total - 10 : undefined);
      expect(items).toHaveLength(5);
      const after = await ok(server.admin.get(next + encodeURIComponent(rest.body.metadata.continue)));
      expect(after.body.metadata.resourceVersion).toBe(rest.body.metadata.resourceVersion);
    }
  });

  test("C-7-07 a list with NotOlderThan starts with current data, and is 410 when it is continued too late", async () => {
    const { resourceVersion } = (await ok(server.admin.get(`${path}?limit=5`))).body.metadata;
    await ok(server.admin.patch(`${path}/m-00`, { data: { later: "3" } }));
    const notOlder = `${path}?resourceVersion=${resourceVersion}&resourceVersionMatch=NotOlderThan&limit=5`;
    const { metadata } = (await ok(server.admin.get(notOlder))).body;
    expect(Number(metadata.resourceVersion)).toBeGreaterThan(Number(resourceVersion));
    const next = `${path}?limit=5&continue=${encodeURIComponent(metadata.continue)}`;
    expect((await server.admin.get(next)).status).toBe(200);
    await ok(server.admin.patch(`${path}/m-00`, { data: { later: "4" } }));
    await clock.advance(12 * minutes);
    expect((await server.admin.get(notOlder)).status).toBe(200);
    expect(await server.admin.get(next)).toMatchObject({ status: 410, body: { reason: "Expired" } });
  });
});
