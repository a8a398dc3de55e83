import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createServer, type RecordedRequest, type Server } from "../../src/index.ts";
import { RequestLog } from "../../src/http/metrics/request-log.ts";
import { configMap, group, refTo, clusterRoleBinding } from "../api/support.ts";
import { Api } from "../support/api.ts";

let server: Server;
let api: Api;
const inDefault = { apiVersion: "v1", kind: "ConfigMap", namespace: "default" } as const;
const maps = "/api/v1/namespaces/default/configmaps";

beforeAll(async () => {
  server = await createServer({ recordRequests: true });
  const binding = clusterRoleBinding("viewers", refTo("ClusterRole", "cluster-admin"), [group("editors")]);
  await server.client.create(binding);
  api = new Api(server.url!, server.caCertificate, `Bearer ${server.adminToken}`);
});
afterAll(async () => {
  api.close();
  await server.close();
});
beforeEach(() => server.requests.clear());

describe("requests", () => {
  test("has the requests over HTTP with user and answer", async () => {
    await api.post(maps, configMap("one"));
    await api.get(`${maps}?limit=1`, { headers: { "user-agent": "kit", "impersonate-user": "devi" } });
    await api.get("/healthz?verbose");
    const [create, list, health] = [...server.requests];
    expect(create).toEqual({
      method: "POST",
      path: maps,
      query: "",
      verb: "create",
      group: "",
      resource: "configmaps",
      subresource: "",
      namespace: "default",
      name: "",
      user: "admin",
      groups: ["system:masters", "system:authenticated"],
      status: 201,
      durationMs: expect.any(Number),
      userAgent: "",
      inProcess: false,
    });
    expect(create!.durationMs).toBeGreaterThan(0);
    expect(list).toMatchObject({
      verb: "list",
      path: maps,
      query: "limit=1",
      user: "devi",
      status: 403,
      userAgent: "kit",
    });
    expect(health).toMatchObject({
      verb: "get",
      path: "/healthz",
      query: "verbose",
      resource: "",
      status: 200,
    });
  });

  test("has a request that was rejected before authentication, without a user", async () => {
    const stranger = new Api(server.url!, server.caCertificate, "Bearer wrong");
    await stranger.get(`${maps}/one`);
    stranger.close();
    expect([...server.requests]).toMatchObject([
      { user: "", groups: [], status: 401, name: "one", verb: "get" },
    ]);
  });

  test("has the requests of clients in the process, as over HTTP", async () => {
    const erin = server.as("erin", ["editors"]);
    const object = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "two", namespace: "default" },
    } as const;
    await erin.create(object);
    await erin.get({ ...inDefault, name: "two" });
    await erin.patch({ ...inDefault, name: "two" }, { data: { a: "1" } });
    await erin.apply({ ...object, data: { b: "1" } });
    const { resourceVersion } = await erin.list(inDefault);
    erin.watch({ ...inDefault, resourceVersion }, () => undefined).close();
    await erin.delete({ ...inDefault, name: "two" });
    await erin.get({ ...inDefault, name: "two" }).catch(() => undefined);
    await erin.get({ apiVersion: "v1", kind: "Namespace", name: "default" });
    await erin.list({ apiVersion: "rbac.authorization.platform.io/v1", kind: "ClusterRole" });
    await server
      .as("nora")
      .get({ ...inDefault, name: "two" })
      .catch(() => undefined);
    const records = [...server.requests];
    const lines = records.map(({ user, verb, method, path, status }) =>
      [user, verb, method, path, status].join(" "),
    );
    expect(lines).toEqual([
      `erin create POST ${maps} 201`,
      `erin get GET ${maps}/two 200`,
      `erin patch PATCH ${maps}/two 200`,
      `erin patch PATCH ${maps}/two 200`,
      `erin list GET ${maps} 200`,
      `erin watch GET ${maps} 200`,
      `erin delete DELETE ${maps}/two 200`,
      `erin get GET ${maps}/two 404`,
      "erin get GET /api/v1/namespaces/default 200",
      "erin list GET /apis/rbac.authorization.platform.io/v1/clusterroles 200",
      `nora get GET ${maps}/two 403`,
    ]);
    expect(records.every(({ inProcess }) => inProcess)).toBe(true);
    await api.get("/api/v1/namespaces/default");
    const attributes = { verb: "get", resource: "namespaces", namespace: "default", name: "default" };
    const same = server.requests.filter(attributes);
    expect(same.map(({ inProcess }) => inProcess)).toEqual([true, false]);
    expect(records[0]!.groups).toEqual(["editors", "system:authenticated"]);
  });

  test("doesn't have the requests of server.client", async () => {
    await server.client.list(inDefault);
    expect(server.requests).toHaveLength(0);
  });

  test("filters by fields", async () => {
    await api.get(maps);
    await api.get(`${maps}/none`);
    await server
      .as("nora")
      .list(inDefault)
      .catch(() => undefined);
    const { requests } = server;
    expect(requests.filter({ verb: "list" })).toHaveLength(2);
    expect(requests.filter({ verb: "list", user: "nora" })).toHaveLength(1);
    expect(requests.filter({ status: 404, inProcess: false })).toMatchObject([{ name: "none" }]);
    expect(requests.filter({})).toHaveLength(3);
    expect(() => requests.filter({ kind: "ConfigMap" } as object)).toThrow(
      /requests can't be filtered by "kind", only by method, path/,
    );
  });

  test("is an error unless requests are recorded, and the option is true or false", async () => {
    await using other = await createServer({ port: false });
    expect(() => other.requests).toThrow("create the server with createServer({ recordRequests: true })");
    await expect(createServer({ recordRequests: "yes" as never })).rejects.toThrow(
      'recordRequests: "yes" is not true or false',
    );
  });
});

test("a request log keeps the newest 10,000 requests", () => {
  const log = new RequestLog();
  const add = (status: number) => log.add({ status } as RecordedRequest);
  for (let status = 0; status < 25_000; status++) add(status);
  expect(log).toHaveLength(10_000);
  const statuses = [...log].map(({ status }) => status);
  expect(statuses.length).toBe(10_000);
  expect([statuses[0], statuses.at(-1)]).toEqual([15_000, 24_999]);
  expect(log.filter({ status: 14_999 })).toEqual([]);
});
