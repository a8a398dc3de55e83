import { gunzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { TestServer } from "../support/api.ts";
import { until } from "./support.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const words = "word ".repeat(40_000);
const aggregated = "application/json;g=apidiscovery.platform.io;v=v2beta1;as=APIGroupDiscoveryList";

let server: TestServer;
const start = async (featureGates: string) => {
  server = await TestServer.start(featureGates === "" ? {} : { featureGates });
};
afterEach(() => server.close());

const made = async (...names: string[]) => {
  for (const name of names)
    await server.admin.post(configMaps, { metadata: { name }, data: { text: words } });
};

/** Responses of each kind with their content encoding. */
const encodingsOf = async () => {
  const asked = [
    [`${configMaps}/a`, "application/json"],
    [configMaps, "application/json"],
    [configMaps, "application/yaml"],
    [configMaps, "application/vnd.platform.protobuf"],
    [`${configMaps}?limit=3`, "application/json"],
  ] as const;
  const encodings: unknown[] = [];
  for (const [path, accept] of asked) {
    const answer = await server.admin.get(path, { accept, headers: { "accept-encoding": "gzip" } });
    expect(answer.status).toBe(200);
    encodings.push(answer.headers["content-encoding"]);
  }
  return encodings;
};

describe("APIResponseCompression", () => {
  test("is on by default; when off, nothing is compressed", async () => {
    await start("");
    await made("a", "b", "c", "d");
    expect(await encodingsOf()).toEqual(Array.from({ length: 5 }, () => "gzip"));
    await server.close();
    await start("APIResponseCompression=false");
    await made("a", "b", "c", "d");
    expect(await encodingsOf()).toEqual(Array.from({ length: 5 }, () => undefined));
    const created = await server.admin.post(
      configMaps,
      { metadata: { name: "e" }, data: { text: words } },
      { headers: { "accept-encoding": "gzip" } },
    );
    expect([created.status, created.headers["content-encoding"]]).toEqual([201, undefined]);
  });

  test("large compressed responses are counted with the number of bytes sent", async () => {
    await start("");
    await made("a", "b", "c", "d");
    const headers = { "accept-encoding": "gzip" };
    const one = await server.admin.get(`${configMaps}/a`, { headers });
    const list = await server.admin.get(configMaps, { headers });
    expect(gunzipSync(list.bytes).length).toBeGreaterThan(4 * words.length);
    const sizesOf = async () => {
      const { text } = await server.admin.get("/metrics");
      return Object.fromEntries(
        [
          ...text.matchAll(/^apiserver_response_sizes_sum\{verb="(GET|LIST)",.*"configmaps".*\} (\d+)$/gm),
        ].map((match) => [match[1]!, Number(match[2])]),
      );
    };
    const sizes = await until(sizesOf, ({ LIST }) => LIST !== undefined);
    expect(sizes).toEqual({ GET: one.bytes.length, LIST: list.bytes.length });
  });
});

test.each([
  ["", 2],
  ["RemainingItemCount=false", undefined],
])("with %j the remainingItemCount of a chunk is %j", async (gates, remaining) => {
  await start(gates);
  await made("a", "b", "c", "d");
  const first = (await server.admin.get(`${configMaps}?limit=2`)).body.metadata;
  expect(first.remainingItemCount).toBe(remaining);
  const rest = await server.admin.get(`${configMaps}?limit=1&continue=${first.continue}`);
  expect(rest.body.metadata.remainingItemCount).toBe(remaining === undefined ? undefined : 1);
  expect(rest.body.items).toHaveLength(1);
});

test.each([
  ["", "APIGroupList", "APIVersions"],
  ["AggregatedDiscoveryEndpoint=true", "APIGroupDiscoveryList", "APIGroupDiscoveryList"],
])("with %j a client that prefers aggregated discovery gets %s and %s", async (gates, apis, api) => {
  await start(gates);
  const accept = `${aggregated},application/json`;
  expect((await server.admin.get("/apis", { accept })).body.kind).toBe(apis);
  expect((await server.admin.get("/api", { accept })).body.kind).toBe(api);
  expect((await server.admin.get("/apis", { accept: "application/json" })).body.kind).toBe("APIGroupList");
  const alone = await server.admin.get("/apis", { accept: aggregated });
  expect(alone.body.kind).toBe(apis);
});

test.each([
  ["", true],
  ["StorageVersionHash=false", false],
])("with %j discovery has a storage version hash: %j", async (gates, shown) => {
  await start(gates);
  const { resources } = (await server.admin.get("/api/v1")).body;
  const pods = resources.find(({ name }: { name: string }) => name === "pods");
  expect("storageVersionHash" in pods).toBe(shown);
  // A kind that isn't stored has no storage version.
  const states = resources.find(({ name }: { name: string }) => name === "componentstatuses");
  expect(states).not.toHaveProperty("storageVersionHash");
});

test.each([
  ["", 200],
  ["OpenAPIV3=false", 404],
])("with %j version 3 of OpenAPI answers %d", async (gates, status) => {
  await start(gates);
  for (const path of ["/openapi/v3", "/openapi/v3/api/v1"])
    expect((await server.admin.get(path)).status).toBe(status);
  expect((await server.admin.get("/openapi/v2")).status).toBe(200);
});

test.each([
  ["", "", [201, ['unknown field "surplus"']]],
  ["", "?fieldValidation=Strict", [400, []]],
  ["ServerSideFieldValidation=false", "", [201, []]],
  ["ServerSideFieldValidation=false", "?fieldValidation=Strict", [201, []]],
])("C-4.8-05 with %j an unknown field written with %j answers %j", async (gates, query, answer) => {
  await start(gates);
  const written = await server.admin.post(`${configMaps}${query}`, { metadata: { name: "a" }, surplus: 1 });
  expect([written.status, written.warnings]).toEqual(answer);
});

test("a gate without effect on this server is accepted, and the log says why once", async () => {
  const said: string[] = [];
  const warn = (_facts: object, message: string) => void said.push(message);
  const log = { info: () => undefined, warn, error: () => undefined };
  server = await TestServer.start({ featureGates: "MemoryManager=false,WatchList=true", log });
  expect(said.filter((message) => message.includes("feature gate"))).toEqual([
    "feature gate MemoryManager has no effect here: it belongs to the node agent",
  ]);
});

test.each([
  ["", 200],
  ["JobMutableNodeSchedulingDirectives=false", 422],
])("with %j changing the node selector of a suspended job answers %d", async (gates, status) => {
  await start(gates);
  const jobs = "/apis/batch/v1/namespaces/default/jobs";
  const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
  const job = { metadata: { name: "j" }, spec: { suspend: true, template } };
  expect((await server.admin.post(jobs, job)).status).toBe(201);
  const patch = { spec: { template: { spec: { nodeSelector: { zone: "a" } } } } };
  expect((await server.admin.patch(`${jobs}/j`, patch)).status).toBe(status);
});
