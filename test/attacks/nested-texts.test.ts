import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseEmbeddedJson } from "../../src/base/json/embedded.ts";
import { TestServer, type Answer } from "../support/api.ts";
import { configMap, ok } from "../api/support.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const secrets = "/api/v1/namespaces/default/secrets";
const autoscalers = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers";
const lastApplied = "client.platform.io/last-applied-configuration";

/** JSON nested so deeply that a recursive walk overflows the stack, or deeper if there is room. */
const deepLists = "[".repeat(60_000) + "]".repeat(60_000);
const deepObjects = `${'{"a":'.repeat(40_000)}1${"}".repeat(40_000)}`;
const short = `{"kid":${"[".repeat(9000)}${"]".repeat(9000)}}`;
const encoded = (text: string) => Buffer.from(text).toString("base64url");
const token = (claims: string) =>
  [encoded('{"alg":"RS256"}'), encoded(claims), encoded("signature")].join(".");

describe("deeply nested JSON inside a string of a client", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({ enabledControllers: [] });
    for (const name of ["owned", "applied"]) await ok(server.admin.post(configMaps, configMap(name)));
  });
  afterAll(() => server.close());

  const managed = (element: string) => ({
    managedFields: [
      {
        manager: "m",
        operation: "Update",
        apiVersion: "v1",
        time: "2026-01-01T00:00:00Z",
        fieldsType: "FieldsV1",
        fieldsV1: { "f:metadata": { "f:finalizers": { [element]: {} } } },
      },
    ],
  });
  const apply = (name: string, meta: object, manager: string) =>
    server.admin.ask("PATCH", `${configMaps}/${name}?fieldManager=${manager}&force=true`, {
      body: configMap(name, { a: "1" }, meta),
      contentType: "application/apply-patch+yaml",
    });
  const autoscaler = (annotations: object) => ({
    metadata: { name: "a", annotations },
    spec: { scaleTargetRef: { kind: "Deployment", name: "d" }, maxReplicas: 2 },
  });
  const alpha = "autoscaling.alpha.platform.io";

  const requests: Readonly<Record<string, () => Promise<Answer>>> = {
    "keys in managed fields, created": () =>
      server.admin.post(configMaps, configMap("keys", {}, managed(`k:${deepObjects}`))),
    "values in managed fields, created": () =>
      server.admin.post(configMaps, configMap("values", {}, managed(`v:${deepLists}`))),
    "values with long numbers in managed fields": () =>
      server.admin.post(
        configMaps,
        configMap("numbers", {}, managed(`v:[12345678901234567890,${deepLists}]`)),
      ),
    "keys in managed fields, replaced": () =>
      server.admin.put(
        `${configMaps}/owned`,
        configMap("owned", { b: "1" }, managed(`k:{"a":${deepLists}}`)),
      ),
    "values in managed fields, patched": () =>
      server.admin.patch(`${configMaps}/owned`, { metadata: managed(`v:${deepObjects}`) }),
    "what a client applied before": async () => {
      const annotations = { [lastApplied]: deepObjects };
      await ok(server.admin.patch(`${configMaps}/applied`, { metadata: { annotations } }));
      return apply("applied", {}, "client");
    },
    "metrics in an annotation": () =>
      server.admin.post(`${autoscalers}?dryRun=All`, autoscaler({ [`${alpha}/metrics`]: deepLists })),
    "behavior in an annotation": () =>
      server.admin.post(`${autoscalers}?dryRun=All`, autoscaler({ [`${alpha}/behavior`]: deepObjects })),
    "a registry's credentials": () =>
      server.admin.post(secrets, {
        metadata: { name: "s" },
        type: "platform.io/dockerconfigjson",
        data: { ".dockerconfigjson": Buffer.from(deepObjects).toString("base64") },
      }),
    "the claims of a token": () => server.as(token(short)).get(configMaps),
    "the claims of a token that is reviewed": () =>
      server.admin.post("/apis/authentication.platform.io/v1/tokenreviews", {
        spec: { token: token(`{"iss":${"[".repeat(20_000)}${"]".repeat(20_000)}}`) },
      }),
    "a continue token": () => server.admin.get(`${configMaps}?limit=1&continue=${encoded(short)}`),
    "a body": () => server.admin.ask("POST", configMaps, { raw: deepObjects }),
    "a YAML body": () =>
      server.admin.ask("POST", configMaps, { raw: `data: ${deepLists}`, contentType: "application/yaml" }),
    "a patch": () =>
      server.admin.ask("PATCH", `${configMaps}/owned`, {
        raw: `{"data":${deepObjects}}`,
        contentType: "application/merge-patch+json",
      }),
    "options of a deletion": () => server.admin.ask("DELETE", `${configMaps}/owned`, { raw: deepObjects }),
  };

  test.each(Object.keys(requests))("%s is no internal error", async (what) => {
    const answer = await requests[what]!();
    expect(answer.status, answer.text.slice(0, 200)).toBeLessThan(500);
    expect((await server.admin.get(`${configMaps}/owned`)).status).toBe(200);
  });

  test("unreadable managedFields leave the current ones unchanged", async () => {
    const { body } = await server.admin.get(`${configMaps}/owned`);
    const changed = await ok(
      server.admin.put(`${configMaps}/owned`, {
        ...body,
        metadata: { ...body.metadata, ...managed(`v:${deepLists}`) },
      }),
    );
    expect(changed.body.metadata.managedFields).toEqual(body.metadata.managedFields);
  });
});

describe("JSON inside a string", () => {
  test("may be nested as deep as a body", () => {
    const nested = (depth: number) => `${"[".repeat(depth)}"]]"${"]".repeat(depth)}`;
    expect(JSON.stringify(parseEmbeddedJson(nested(200)))).toBe(nested(200));
    expect(() => parseEmbeddedJson(nested(201))).toThrow("nested deeper than 200");
    expect(() => parseEmbeddedJson(`{"a":`.repeat(201))).toThrow("nested deeper than 200");
  });

  test("has the depth of its brackets outside strings", () => {
    const flat = JSON.stringify(["[".repeat(500), String.raw`\"[[[`, '"', "{".repeat(500)]);
    expect(parseEmbeddedJson(flat)).toEqual(JSON.parse(flat));
    const wide = JSON.stringify(Array.from({ length: 500 }, () => [{}]));
    expect(parseEmbeddedJson(wide)).toEqual(JSON.parse(wide));
  });

  test("that isn't JSON is a SyntaxError", () => {
    for (const text of ["", "{", "]".repeat(500), '"'.repeat(301)]) {
      expect(() => parseEmbeddedJson(text)).toThrow(SyntaxError);
    }
  });
});
