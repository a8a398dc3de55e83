import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createMemoryStore } from "../../src/storage/memory/memory-store.ts";
import { StoreUnavailableError, type Store } from "../../src/storage/store.ts";
import { componentStatuses } from "../../src/server/health/component-statuses.ts";
import { TestServer } from "../support/api.ts";
import { ManualClock, settle } from "./support.ts";

const path = "/api/v1/componentstatuses";
const healthy = [{ type: "Healthy", status: "True", message: "ok" }];

describe("ComponentStatus", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
  });
  afterAll(() => server.close());

  test("C-9.2-22 the list has the store's health and the Warning header of a deprecated kind", async () => {
    const { status, body, warnings } = await server.admin.get(path);
    expect(status).toBe(200);
    expect(body).toEqual({
      kind: "ComponentStatusList",
      apiVersion: "v1",
      metadata: {},
      items: [{ metadata: { name: "etcd-0", creationTimestamp: null }, conditions: healthy }],
    });
    expect(warnings).toEqual(["v1 ComponentStatus is deprecated in v1.19+"]);
  });

  test("GET returns a component by name; an unknown name is 404", async () => {
    const { status, body } = await server.admin.get(`${path}/etcd-0`);
    expect([status, body.kind, body.conditions]).toEqual([200, "ComponentStatus", healthy]);
    const missing = await server.admin.get(`${path}/scheduler`);
    expect([missing.status, missing.body.message]).toEqual([404, 'componentstatuses "scheduler" not found']);
  });

  test.each([
    ["fieldSelector=metadata.name%3Detcd-0", 1],
    ["fieldSelector=metadata.name%3Dother", 0],
    ["labelSelector=a%3Db", 0],
    ["limit=1", 1],
  ])("selectors and limit apply to the list: %s", async (query, count) => {
    expect((await server.admin.get(`${path}?${query}`)).body.items).toHaveLength(count);
  });

  test.each([
    ["application/yaml", "name: etcd-0"],
    ["application/vnd.platform.protobuf", "etcd-0"],
    ["application/json;as=Table;g=meta.platform.io;v=v1", '"cells":["etcd-0","Healthy","ok",""]'],
  ])("components are encoded as %s", async (accept, part) => {
    const list = await server.admin.get(path, { accept });
    expect([list.status, list.text.includes(part)]).toEqual([200, true]);
    const one = await server.admin.get(`${path}/etcd-0`, { accept });
    expect([one.status, one.text.includes(part)]).toEqual([200, true]);
  });

  test("pretty=true indents the JSON", async () => {
    expect((await server.admin.get(`${path}?pretty=true`)).text).toContain('\n      "conditions": [');
  });

  test.each(["POST", "PUT", "DELETE", "PATCH"])("%s of a component is 405", async (method) => {
    expect((await server.admin.ask(method, `${path}/etcd-0`, { body: {} })).status).toBe(405);
  });
});

describe("the component status of a store", () => {
  const storeThat = (latestRevision: () => Promise<never>, clock: ManualClock): Store =>
    new Proxy(createMemoryStore({ clock }), {
      get: (target, name) =>
        (name === "latestRevision" ? latestRevision : Reflect.get(target, name)) as unknown,
    });
  const conditions = (problem: string) => [{ type: "Healthy", status: "False", error: problem }];

  test("is unhealthy without details when the store fails", async () => {
    const clock = new ManualClock();
    const store = storeThat(() => Promise.reject(new StoreUnavailableError("secret address")), clock);
    const [one] = await componentStatuses(store, clock);
    expect(one!["conditions"]).toEqual(conditions("reason withheld"));
  });

  test("is unhealthy when the store doesn't answer within the timeout", async () => {
    const clock = new ManualClock();
    const statuses = componentStatuses(
      storeThat(() => new Promise<never>(() => undefined), clock),
      clock,
    );
    await settle();
    await clock.advance(2000);
    expect((await statuses)[0]!["conditions"]).toEqual(conditions("no answer within 2000 ms"));
  });
});
