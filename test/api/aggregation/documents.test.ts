import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestServer } from "../../support/api.ts";
import { apiService, apiServices, ExtensionServer } from "../../support/extension-server.ts";
import { messagesAt, textsAt } from "../../support/message-fields.ts";
import { definition, definitions, group as customGroup } from "../custom-resources/support.ts";
import { ok, until } from "../support.ts";

let server: TestServer;
let extension: ExtensionServer;
const swagger = (path: string, more: object = {}) => ({
  swagger: "2.0",
  info: { title: "widgets", version: "1" },
  paths: {
    [`${path}/widgets`]: {
      get: {
        operationId: "listWidgets",
        responses: { "200": { description: "OK", schema: { $ref: "#/definitions/com.example.Widget" } } },
      },
    },
    "/apis/apps/v1/deployments": { get: { operationId: "lie", responses: {} } },
  },
  definitions: {
    "com.example.Widget": {
      type: "object",
      properties: {
        metadata: { $ref: "#/definitions/ObjectMeta" },
        spec: { $ref: "#/definitions/com.example.Spec" },
      },
    },
    "com.example.Spec": { type: "object", properties: { size: { type: "integer" } } },
    ObjectMeta: { description: "another one", type: "object" },
    Unused: { type: "object" },
  },
  ...more,
});

beforeAll(async () => {
  server = await TestServer.start({
    connections: { allowLoopback: true },
    featureGates: "AggregatedDiscoveryEndpoint=true",
  });
  extension = await ExtensionServer.start();
  extension.documents.set("/openapi/v2", (request, response) => {
    if (request.headers["if-none-match"] === '"1"') return void response.writeHead(304).end();
    response.setHeader("etag", '"1"');
    extension.json(response, swagger(extension.path));
  });
  extension.documents.set("/openapi/v3", (_request, response) => {
    const path = extension.path.slice(1);
    const entry = { serverRelativeURL: `/openapi/v3/${path}?hash=ABC` };
    const evil = { serverRelativeURL: "https://evil.example.com/" };
    extension.json(response, { paths: { [path]: entry, "apis/apps/v1": evil } });
  });
  extension.documents.set(`/openapi/v3${extension.path}`, (request, response) =>
    extension.json(response, { openapi: "3.0.0", asked: request.url, by: request.headers["x-remote-user"] }),
  );
  await extension.register(server.admin);
});
afterAll(async () => {
  await server.close();
  await extension.close();
});
const groups = async () =>
  (await server.admin.get("/apis")).body.groups as { name: string; versions: object[] }[];
const namesOf = async () => (await groups()).map(({ name }) => name);

describe("discovery", () => {
  test("lists aggregated groups together with the server's own, by priority", async () => {
    await ok(server.admin.post(definitions, definition()));
    const names = await until(namesOf, (all) => all.includes(customGroup));
    expect(names[0]).toBe("apiregistration.platform.io");
    expect(names.indexOf("apps")).toBeLessThan(names.indexOf(extension.group));
    expect(names.indexOf(extension.group)).toBeLessThan(names.indexOf(customGroup));
    await ok(
      server.admin.patch(`${apiServices}/${extension.name}`, { spec: { groupPriorityMinimum: 17_790 } }),
    );
    const moved = await until(namesOf, (all) => all.indexOf(extension.group) === all.indexOf("apps") + 1);
    expect(moved.toSorted()).toEqual(names.toSorted());
    await ok(
      server.admin.patch(`${apiServices}/${extension.name}`, { spec: { groupPriorityMinimum: 2000 } }),
    );
  });

  test("of a group has the versions of all its servers, by priority", async () => {
    const expected = [{ groupVersion: `${extension.group}/v1`, version: "v1" }];
    const { body } = await ok(server.admin.get(`/apis/${extension.group}`));
    expect(body).toEqual({
      kind: "APIGroup",
      apiVersion: "v1",
      name: extension.group,
      versions: expected,
      preferredVersion: expected[0],
    });
    const spec = { service: { namespace: "default", name: "nowhere" }, insecureSkipTLSVerify: true };
    const versionOf = (version: string, versionPriority: number) =>
      server.admin.post(apiServices, apiService(customGroup, version, { ...spec, versionPriority }));
    await ok(versionOf("v2", 500));
    await ok(versionOf("v3alpha1", 1));
    const read = async () => (await server.admin.get(`/apis/${customGroup}`)).body;
    const all = await until(read, (one) => one.versions.length === 3);
    expect(all.versions.map(({ version }: { version: string }) => version)).toEqual(["v2", "v1", "v3alpha1"]);
    expect(all.preferredVersion.version).toBe("v2");
  });

  test("of a group version is that of the extension server", async () => {
    for (const path of [extension.path, `${extension.path}/`]) {
      const { body } = await ok(server.admin.get(path));
      expect(body).toMatchObject({ kind: "APIResourceList", groupVersion: `${extension.group}/v1` });
    }
    const { body } = await server.admin.get("/");
    expect(body.paths).toEqual(expect.arrayContaining([`/apis/${extension.group}`, extension.path]));
  });

  test("lists a group whose only server is unreachable; its document is 503, and the rest is unchanged", async () => {
    const spec = { service: { namespace: "default", name: "nowhere" }, insecureSkipTLSVerify: true };
    await ok(server.admin.post(apiServices, apiService("away.example.com", "v1", spec)));
    await until(namesOf, (all) => all.includes("away.example.com"));
    expect((await server.admin.get("/apis/away.example.com")).status).toBe(200);
    expect((await server.admin.get("/apis/away.example.com/v1")).status).toBe(503);
    expect((await server.admin.get("/apis/apps/v1")).status).toBe(200);
  });

  test("as one document has the last known resources of extension servers, and marks unreachable ones as stale", async () => {
    const accept = "application/json;g=apidiscovery.platform.io;v=v2beta1;as=APIGroupDiscoveryList";
    type Version = { version: string; freshness: string; resources: object[] };
    const versionsOf = async (group: string): Promise<Version[]> => {
      const { body } = await ok(server.admin.get("/apis", { accept }));
      const item = body.items.find(({ metadata }: { metadata: { name: string } }) => metadata.name === group);
      return item?.versions ?? [];
    };
    const responseKind = { group: extension.group, version: "v1", kind: "Widget" };
    expect(await versionsOf(extension.group)).toEqual([
      {
        version: "v1",
        freshness: "Current",
        resources: [
          {
            resource: "widgets",
            responseKind,
            scope: "Namespaced",
            singularResource: "widget",
            verbs: ["get", "list", "watch", "create"],
            shortNames: ["wd"],
            subresources: [
              { subresource: "status", responseKind, verbs: ["get", "update"] },
              { subresource: "stream", responseKind, verbs: ["get"] },
            ],
          },
        ],
      },
    ]);
    expect(await versionsOf("away.example.com")).toEqual([
      { version: "v1", freshness: "Stale", resources: [] },
    ]);
  });
});

describe("OpenAPI", () => {
  const whole = async () => (await ok(server.admin.get("/openapi/v2"))).body;

  test("v2 has the paths of an extension server's group version, under definition names that don't collide", async () => {
    const document = await until(whole, ({ paths }) => `${extension.path}/widgets` in paths);
    const own = document.paths[`${extension.path}/widgets`];
    expect(own.get.responses["200"].schema).toEqual({ $ref: "#/definitions/com.example.Widget" });
    expect(document.paths["/apis/apps/v1/deployments"]?.get?.operationId).not.toBe("lie");
    expect(document.definitions).toHaveProperty(["com.example.Spec"]);
    expect(document.definitions).not.toHaveProperty(["Unused"]);
    const binary = await server.admin.get("/openapi/v2", {
      accept: "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
    });
    expect(binary.bytes.includes("listWidgets")).toBe(true);
  });

  test("v2 has shared parameters and responses in place of references to them, also in binary", async () => {
    const shared = await ExtensionServer.start({ group: "shared.example.com", service: "shared" });
    const path = `${shared.path}/widgets`;
    const limit = {
      name: "limit",
      in: "query",
      description: "Most items.",
      type: "integer",
      uniqueItems: true,
    };
    const body = { name: "body", in: "body", schema: { $ref: "#/definitions/com.example.Widget" } };
    const trace = { name: "X-Trace", in: "header", type: "array", items: { type: "string" }, minItems: 1 };
    const refused = { description: "Refused", headers: { "X-Why": { type: "string", description: "Why" } } };
    const ref = (map: string, name: string) => ({ $ref: `#/${map}/${name}` });
    const item = {
      parameters: [ref("parameters", "trace-1")],
      get: {
        operationId: "listShared",
        deprecated: true,
        parameters: [ref("parameters", "limit-2")],
        responses: {},
      },
      post: {
        operationId: "createShared",
        parameters: [ref("parameters", "body-3"), { ...limit, name: "own" }],
        responses: { "403": ref("responses", "Refused") },
      },
    };
    const parameters = { "limit-2": limit, "body-3": body, "trace-1": trace };
    const document = { paths: { [path]: item }, parameters, responses: { Refused: refused } };
    shared.documents.set("/openapi/v2", (_request, response) =>
      shared.json(response, swagger(shared.path, document)),
    );
    await shared.register(server.admin);
    const { paths, definitions } = await until(whole, (all) => path in all.paths);
    expect(paths[path]).toEqual({
      parameters: [trace],
      get: { ...item.get, parameters: [limit] },
      post: {
        ...item.post,
        parameters: [
          { ...body, schema: { $ref: expect.stringMatching(/Widget/) } },
          { ...limit, name: "own" },
        ],
        responses: { "403": refused },
      },
    });
    expect(definitions).toHaveProperty([paths[path].post.parameters[0].schema.$ref.slice(14)]);
    const { bytes } = await server.admin.get("/openapi/v2", {
      accept: "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
    });
    // Fields of `openapi.v2.Document`: paths 8, pairs 2; of a path: get 2, post 4, parameters 9; of an operation: parameters 8.
    const pair = messagesAt(bytes, 8, 2).find((one) => textsAt(one, 1)[0] === path)!;
    const names = (...at: readonly number[]) => textsAt(pair, 2, ...at);
    expect({
      ids: [...names(2, 5), ...names(4, 5)],
      header: [...names(9, 1, 2, 1, 4), ...names(9, 1, 2, 1, 7, 1)],
      query: [...names(2, 8, 1, 2, 3, 4), ...names(4, 8, 1, 2, 3, 4)],
      body: names(4, 8, 1, 1, 2),
      response: [...names(4, 9, 1, 1), ...names(4, 9, 1, 2, 1, 1), ...names(4, 9, 1, 2, 1, 3, 1, 1)],
    }).toEqual({
      ids: ["listShared", "createShared"],
      header: ["X-Trace", "string"],
      query: ["limit", "own"],
      body: ["body"],
      response: ["403", "Refused", "X-Why"],
    });
    await ok(server.admin.delete(`${apiServices}/${shared.name}`));
    await shared.close();
  });

  test("v3 lists it, and its document is requested from the extension server on behalf of the user", async () => {
    const index = async () => (await ok(server.admin.get("/openapi/v3"))).body.paths;
    const paths = await until(index, (all) => extension.path.slice(1) in all);
    expect(paths[extension.path.slice(1)]).toEqual({
      serverRelativeURL: `/openapi/v3${extension.path}?hash=ABC`,
    });
    expect(paths["apis/apps/v1"].serverRelativeURL).toMatch(/^\/openapi\/v3\/apis\/apps\/v1\?hash=/);
    const { body } = await ok(server.admin.get(`/openapi/v3${extension.path}?hash=ABC`));
    expect(body).toEqual({ openapi: "3.0.0", asked: `/openapi/v3${extension.path}`, by: "admin" });
  });

  test.each<[string, (one: ExtensionServer) => Parameters<ExtensionServer["documents"]["set"]>[1]]>([
    ["that isn't JSON", () => (_request, response) => void response.end("<html>")],
    [
      "that refers to what isn't there",
      (one) => (_request, response) => one.json(response, swagger(one.path, { definitions: {} })),
    ],
    [
      "of 100 MB",
      () => (_request, response) => {
        const megabyte = Buffer.alloc(1024 * 1024, " ");
        let sent = 0;
        const more = () => {
          while (sent++ < 100) if (!response.write(megabyte)) return;
          response.end();
        };
        response.on("drain", more);
        more();
      },
    ],
    [
      "that refers to a parameter that isn't there",
      (one) => (_request, response) => {
        const item = { get: { parameters: [{ $ref: "#/parameters/none" }] } };
        one.json(response, swagger(one.path, { paths: { [`${one.path}/widgets`]: item } }));
      },
    ],
    [
      "whose references multiply it",
      (one) => (_request, response) => {
        const large = { name: "p", in: "query", type: "string", description: "x".repeat(1024 * 1024) };
        const parameters = Array.from({ length: 40 }, () => ({ $ref: "#/parameters/large" }));
        const paths = { [`${one.path}/widgets`]: { get: { parameters } } };
        one.json(response, swagger(one.path, { paths, parameters: { large } }));
      },
    ],
    [
      "with what has no binary form",
      (one) => (_request, response) => {
        const paths = { [`${one.path}/widgets`]: { get: { strange: true } } };
        one.json(response, swagger(one.path, { paths }));
      },
    ],
  ])("a document %s is left out, and the server's own is unchanged", async (_title, document) => {
    const other = await ExtensionServer.start({ group: "broken.example.com", service: "broken" });
    let done = false;
    other.documents.set("/openapi/v2", (request, response) => {
      response.on("close", () => (done = true));
      document(other)(request, response);
    });
    await other.register(server.admin);
    await until(() => done, Boolean);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const { paths } = await whole();
    expect(Object.keys(paths).filter((path) => path.includes("broken.example.com"))).toEqual([]);
    expect(paths).toHaveProperty(["/api/v1/namespaces"]);
    await ok(server.admin.delete(`${apiServices}/${other.name}`));
    await other.close();
  });
});
