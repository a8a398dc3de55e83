import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestServer } from "../../support/api.ts";
import { apiService, apiServices, ExtensionServer } from "../../support/extension-server.ts";
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
