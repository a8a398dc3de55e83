import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CreateServerOptions } from "../../src/index.ts";
import { TestServer } from "../support/api.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { configMap, ManualClock, ok } from "./support.ts";
import { keepsAll, maps, namesIn, threeVersions } from "./history-support.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());

const engines: Readonly<Record<string, CreateServerOptions["storage"]>> = {
  memory: { engine: "memory" },
  embedded: { engine: "embedded", dir: folder.path },
};

describe.each(Object.entries(engines))("history over the %s store", (_name, storage) => {
  const clock = new ManualClock();
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({ ...keepsAll, users: [{ name: "ann" }], storage, clock });
  });
  afterAll(() => server.close());
  /** Lets time pass, so that the next state has another time; returns the time before. */
  const later = async (): Promise<string> => {
    await clock.advance(10_000);
    const time = new Date(clock.now()).toISOString();
    await clock.advance(10_000);
    return time;
  };

  test("the versions of an object have who, when, by which manager, verb and audit id, newest first", async () => {
    const versions = await threeVersions(server.admin, "v");
    const { headers } = await ok(
      server.admin.ask("DELETE", `${maps}/v`, {
        headers: { "user-agent": "remover/1", "audit-id": "the-id" },
      }),
    );
    const { body } = await ok(server.admin.get(`${maps}/v/history`));
    expect(body).toMatchObject({ kind: "ObjectVersionList", apiVersion: "history.platform.io/v1alpha1" });
    const items = body.items as { metadata: { resourceVersion: string } }[];
    expect(items.slice(1).map(({ metadata }) => metadata.resourceVersion)).toEqual(versions.toReversed());
    expect(items).toMatchObject([
      {
        verb: "delete",
        manager: "remover",
        deleted: true,
        auditID: headers["audit-id"],
        previousVersion: versions[2],
      },
      { verb: "apply", manager: "applier", previousVersion: versions[1] },
      { verb: "patch" },
      { verb: "create", manager: "maker", user: "admin", metadata: { name: "v", namespace: "default" } },
    ]);
    expect(items[3]).not.toHaveProperty("previousVersion");
    expect(items[3]).not.toHaveProperty("object");
    expect(items[0]).toHaveProperty("time", new Date(clock.now()).toISOString().replace(/\.\d+/, ""));
  });

  test("the versions of an object come in pages, with their contents on request", async () => {
    const versions = await threeVersions(server.admin, "pages");
    const path = `${maps}/pages/history?contents=true&limit=1`;
    const steps: unknown[] = [];
    for (let token = ""; ;) {
      const { body } = await ok(server.admin.get(`${path}&continue=${token}`));
      expect(body.items.length).toBe(1);
      steps.push([body.items[0].metadata.resourceVersion, body.items[0].object.data.step]);
      token = body.metadata.continue ?? "";
      if (token === "") break;
    }
    expect(steps).toEqual([
      [versions[2], "3"],
      [versions[1], "2"],
      [versions[0], "1"],
    ]);
  });

  test("a table of versions has a column for each fact", async () => {
    await threeVersions(server.admin, "table");
    const accept = "application/json;as=Table;v=v1;g=meta.platform.io";
    const { body } = await ok(server.admin.get(`${maps}/table/history`, { accept }));
    expect(body.columnDefinitions.map(({ name }: { name: string }) => name)).toEqual([
      "Version",
      "Time",
      "User",
      "Manager",
      "Verb",
      "Deleted",
    ]);
    expect(body.rows.map(({ cells }: { cells: unknown[] }) => cells[4])).toEqual([
      "apply",
      "patch",
      "create",
    ]);
  });

  test("get and list return the state at a time or at a resource version", async () => {
    const before = await later();
    await ok(server.admin.post(maps, configMap("past", { step: "1" })));
    const first = await later();
    const { body } = await ok(server.admin.patch(`${maps}/past`, { data: { step: "2" } }));
    await later();
    await ok(server.admin.delete(`${maps}/past`));
    await later();
    expect((await server.admin.get(`${maps}/past`)).status).toBe(404);
    expect((await ok(server.admin.get(`${maps}/past?at=${first}`))).body.data.step).toBe("1");
    const { resourceVersion } = body.metadata;
    expect((await ok(server.admin.get(`${maps}/past?at=${resourceVersion}`))).body.data.step).toBe("2");
    expect((await server.admin.get(`${maps}/past?at=${before}`)).status).toBe(404);
    expect(namesIn(await ok(server.admin.get(`${maps}?at=${first}`)))).toContain("past");
    expect(namesIn(await ok(server.admin.get(`${maps}?at=${before}`)))).not.toContain("past");
    expect(namesIn(await ok(server.admin.get(maps)))).not.toContain("past");
  });

  test("a list at a time continues at its state", async () => {
    for (const name of ["c-1", "c-2", "c-3"])
      await ok(server.admin.post(maps, configMap(name, {}, { labels: { chunked: "yes" } })));
    const at = await later();
    await ok(server.admin.delete(`${maps}/c-3`));
    const path = `${maps}?labelSelector=chunked=yes&limit=2&at=${at}`;
    const { body } = await ok(server.admin.get(path));
    const rest = await ok(server.admin.get(`${path}&continue=${body.metadata.continue}`));
    expect(namesIn(rest)).toEqual(["c-3"]);
  });

  test("a watch begins after the state at a time", async () => {
    const at = await later();
    await threeVersions(server.admin, "watched");
    await later();
    const watch = await server.admin.watch(`${maps}?at=${at}&fieldSelector=metadata.name=watched`);
    const frames = [await watch.next(), await watch.next(), await watch.next()];
    watch.close();
    expect(frames.map(({ type, object }) => [type, object.data.step])).toEqual([
      ["ADDED", "1"],
      ["MODIFIED", "2"],
      ["MODIFIED", "3"],
    ]);
  });

  test("the versions of an object outlast the retention time", async () => {
    const [first] = await threeVersions(server.admin, "old");
    await clock.advance(3 * 60 * 60_000);
    await ok(server.admin.patch(`${maps}/old`, { data: { step: "4" } }));
    expect((await ok(server.admin.get(`${maps}/old?at=${first}`))).body.data.step).toBe("1");
    const watch = await server.admin.watch(
      `${maps}?resourceVersion=${first}&fieldSelector=metadata.name=old`,
    );
    expect((await watch.next()).object.data.step).toBe("2");
    watch.close();
  });

  test("deleted objects are listed with their last content and who deleted them, until they exist again", async () => {
    for (const name of ["t-1", "t-2", "t-3"])
      await ok(server.admin.post(maps, configMap(name, { name }, { labels: { trash: "yes" } })));
    for (const name of ["t-1", "t-2", "t-3"]) await ok(server.admin.delete(`${maps}/${name}`));
    const path = `${maps}?deleted=true&labelSelector=trash=yes`;
    const { body } = await ok(server.admin.get(path));
    expect(body.kind).toBe("ConfigMapList");
    expect(body.items).toMatchObject([
      {
        metadata: {
          name: "t-1",
          deletionTimestamp: new Date(clock.now()).toISOString().replace(/\.\d+/, ""),
          annotations: { "history.platform.io/deleted-by": "admin" },
        },
        data: { name: "t-1" },
      },
      { metadata: { name: "t-2" } },
      { metadata: { name: "t-3" } },
    ]);
    const first = await ok(server.admin.get(`${maps}?deleted=true&limit=2`));
    expect(first.body.items.length).toBe(2);
    const next = await ok(
      server.admin.get(`${maps}?deleted=true&limit=500&continue=${first.body.metadata.continue}`),
    );
    expect(new Set([...namesIn(first), ...namesIn(next)]).size).toBe(2 + next.body.items.length);
    await ok(server.admin.post(maps, configMap("t-2")));
    expect(namesIn(await ok(server.admin.get(path)))).toEqual(["t-1", "t-3"]);
    const accept = "application/json;as=Table;v=v1;g=meta.platform.io";
    expect((await ok(server.admin.get(path, { accept }))).body.rows.length).toBe(2);
    expect(namesIn(await ok(server.admin.get("/api/v1/configmaps?deleted=true")))).toContain("t-3");
  });

  test("the writes of a transaction have one audit id", async () => {
    const { client } = server.server;
    const reference = { apiVersion: "v1", kind: "ConfigMap" } as const;
    await client.transaction(async (transaction) => {
      await transaction.create({ ...reference, metadata: { name: "tr-1", namespace: "default" } });
      await transaction.create({ ...reference, metadata: { name: "tr-2", namespace: "default" } });
    });
    const ids = await Promise.all(
      ["tr-1", "tr-2"].map(
        async (name) =>
          (await ok(server.admin.get(`${maps}/${name}/history`))).body.items[0].auditID as string,
      ),
    );
    expect(ids[0]).not.toBe("");
    expect(ids[0]).toBe(ids[1]);
  });

  test.each([
    [
      "?at=soon",
      'parameter at: "soon" is neither a resource version nor a time such as 2026-11-24T10:00:00Z',
    ],
    ["?at=2026-02-30T00:00:00Z", "is neither a resource version nor a time"],
    ["?at=2999-01-01T00:00:00Z", 'parameter at: "2999-01-01T00:00:00Z" is in the future'],
    ["?at=999999999", 'parameter at: "999999999" is above the latest resource version'],
    ["?at=5&resourceVersion=4", "parameter at: can't be used together with resourceVersion"],
    ["?deleted=maybe", 'parameter deleted: "maybe" is not true or false'],
    ["?deleted=true&at=5", "parameter at: is not supported by a list with deleted=true"],
    ["?deleted=true&watch=true", "parameter deleted: is not supported by watch"],
    ["?deleted=true&sort=metadata.name", "parameter sort: is not supported by a list with deleted=true"],
    ["?at=5&watch=true&view=mine", "parameter view: is not supported by a watch with at"],
    ["?deleted=true&continue=x", "continue key is not valid"],
    ["/none/history?limit=-1", "parameter limit: -1 is not from 0 to 500"],
    ["/none/history?contents=yes", 'parameter contents: "yes" is not true or false'],
    ["/none/history?at=4", "parameter at: is not supported by the history of an object"],
    ["/none/history?continue=x", "continue key is not valid"],
  ])("the request %s is refused with the reason", async (query, message) => {
    const { status, body } = await server.admin.refusal("GET", `${maps}${query}`);
    expect([status, body.message]).toEqual([400, expect.stringContaining(message)]);
  });

  test("a time before the history is answered with 410 and its oldest resource version", async () => {
    const { status, body } = await server.admin.refusal("GET", `${maps}?at=1999-01-01T00:00:00Z`);
    expect([status, body.reason]).toEqual([410, "Expired"]);
    expect(body.message).toMatch(
      /is before the history of configmaps, which begins at resource version \d+$/,
    );
    expect((await server.admin.refusal("GET", `${maps}/v?at=1`)).body.message).toBe(
      body.message.replace('"1999-01-01T00:00:00Z"', '"1"'),
    );
  });

  test("an object that never existed has no history, and a history can't be written", async () => {
    expect(await server.admin.get(`${maps}/none/history`)).toMatchObject({
      status: 404,
      body: { reason: "NotFound" },
    });
    expect((await server.admin.delete(`${maps}/v/history`)).status).toBe(405);
    const { status, body } = await server.admin.refusal("DELETE", `${maps}?deleted=true`);
    expect([status, body.message]).toEqual([400, "parameter deleted: is not supported by deletecollection"]);
  });

  test("a resource whose history isn't kept says so, and names the flag", async () => {
    const leases = "/apis/coordination.platform.io/v1/namespaces/default/leases";
    const message =
      "the history of leases.coordination.platform.io is not kept; the server keeps that of the resources in --history-retention";
    expect(await server.admin.get(`${leases}/none/history`)).toMatchObject({
      status: 404,
      body: { message },
    });
    for (const query of ["at=5", "deleted=true"]) {
      const { status, body } = await server.admin.refusal("GET", `${leases}?${query}`);
      expect([status, body.message]).toEqual([400, expect.stringContaining(message)]);
    }
  });
});
