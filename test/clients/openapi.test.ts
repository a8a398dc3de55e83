import { get } from "node:https";
import type { IncomingMessage } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestServer, type Api } from "../support/api.ts";
import { textsAt } from "../support/message-fields.ts";

const binary = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

interface Operation {
  operationId: string;
  parameters?: { name: string; in: string }[];
  [member: string]: unknown;
}
type Paths = Record<string, Record<string, Operation>>;

describe.each(["kubernetes", "platform"] as const)("OpenAPI in the vocabulary %s", (vocabulary) => {
  let server: TestServer;
  let api: Api;
  const suffix = vocabulary === "kubernetes" ? "k8s.io" : "platform.io";
  const root = vocabulary === "kubernetes" ? "io.k8s" : "io.platform";
  const prefix = `x-${vocabulary}-`;
  const meta = `${root}.apimachinery.pkg.apis.meta.v1`;

  beforeAll(async () => {
    server = await TestServer.start({ vocabulary });
    api = server.admin;
  });
  afterAll(() => server?.close());

  async function whole() {
    const answer = await api.get("/openapi/v2");
    expect(answer).toMatchObject({ status: 200, headers: { "content-type": "application/json" } });
    return answer.body as {
      swagger: string;
      paths: Paths;
      definitions: Record<string, Record<string, unknown>>;
    };
  }

  it("names definitions after their packages, and has no dangling reference", async () => {
    const document = await whole();
    expect(document.swagger).toBe("2.0");
    expect(Object.keys(document.definitions)).toEqual(
      expect.arrayContaining([
        `${root}.api.core.v1.ConfigMap`,
        `${root}.api.core.v1.ConfigMapList`,
        `${root}.api.rbac.v1.PolicyRule`,
        `${root}.api.authorization.v1.SubjectAccessReview`,
        `${meta}.ObjectMeta`,
        `${meta}.Status`,
        `${meta}.DeleteOptions`,
        `${meta}.LabelSelector`,
        `${meta}.Patch`,
        `${meta}.Time`,
      ]),
    );
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/definitions\/([^"]+)"/g)].map(
      (one) => one[1]!,
    );
    expect(references.filter((name) => !Object.hasOwn(document.definitions, name))).toEqual([]);
  });

  it("has the descriptions and extensions of the declared fields", async () => {
    const { definitions } = await whole();
    expect(definitions[`${root}.api.rbac.v1.Role`]).toMatchObject({
      type: "object",
      description: "A set of permissions within a namespace.",
      [`${prefix}group-version-kind`]: [
        { group: `rbac.authorization.${suffix}`, kind: "Role", version: "v1" },
      ],
    });
    expect(definitions[`${root}.api.rbac.v1.PolicyRule`]!["required"]).toEqual(["verbs"]);
    const properties = definitions[`${meta}.ObjectMeta`]!["properties"] as Record<string, object>;
    expect(properties["generation"]).toMatchObject({ type: "integer", format: "int64" });
    expect(properties["creationTimestamp"]).toMatchObject({ $ref: `#/definitions/${meta}.Time` });
    expect(properties["ownerReferences"]).toMatchObject({
      type: "array",
      [`${prefix}list-type`]: "map",
      [`${prefix}list-map-keys`]: ["uid"],
      [`${prefix}patch-merge-key`]: "uid",
      [`${prefix}patch-strategy`]: "merge",
    });
    const secret = definitions[`${root}.api.core.v1.Secret`]!["properties"] as Record<string, object>;
    expect(secret["data"]).toMatchObject({
      type: "object",
      additionalProperties: { type: "string", format: "byte" },
    });
    const status = definitions[`${root}.api.core.v1.NamespaceStatus`]!["properties"] as Record<
      string,
      object
    >;
    expect(status["phase"]).toMatchObject({ enum: ["Active", "Terminating"] });
  });

  it("has an operation for each verb, with a unique id and the parameters that clients expect", async () => {
    const { paths } = await whole();
    const operations = Object.values(paths).flatMap((item) =>
      Object.values(item).filter((one) => "operationId" in one),
    );
    const ids = operations.map((one) => one.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(
      expect.arrayContaining([
        "readCoreV1NamespacedConfigMap",
        "listCoreV1ConfigMapForAllNamespaces",
        "deleteCoreV1CollectionNamespacedConfigMap",
        "replaceCoreV1NamespaceFinalize",
        "patchRbacAuthorizationV1ClusterRole",
        "createAuthorizationV1NamespacedLocalSubjectAccessReview",
      ]),
    );
    const patch = paths["/api/v1/namespaces/{namespace}/configmaps/{name}"]!["patch"]!;
    expect(patch.parameters!.filter((one) => one.in === "query").map((one) => one.name)).toEqual([
      "dryRun",
      "fieldManager",
      "fieldValidation",
      "force",
    ]);
    expect(patch).toMatchObject({
      [`${prefix}action`]: "patch",
      [`${prefix}group-version-kind`]: { group: "", kind: "ConfigMap", version: "v1" },
    });
    expect(paths[`/apis/authorization.${suffix}/v1/subjectaccessreviews`]).not.toHaveProperty("get");
  });

  it("describes the watch paths", async () => {
    const { paths, definitions } = await whole();
    const base = "/api/v1/watch";
    const described = (path: string) => {
      const { get, parameters } = paths[path] as unknown as {
        get: Operation;
        parameters: { name: string }[];
      };
      return [get.operationId, get[`${prefix}action`], parameters.map(({ name }) => name).includes("watch")];
    };
    expect(
      [
        `${base}/namespaces/{namespace}/configmaps`,
        `${base}/namespaces/{namespace}/configmaps/{name}`,
        `${base}/configmaps`,
        `${base}/namespaces`,
        `${base}/namespaces/{name}`,
      ].map(described),
    ).toEqual([
      ["watchCoreV1NamespacedConfigMapList", "watchlist", true],
      ["watchCoreV1NamespacedConfigMap", "watch", true],
      ["watchCoreV1ConfigMapListForAllNamespaces", "watchlist", true],
      ["watchCoreV1NamespaceList", "watchlist", true],
      ["watchCoreV1Namespace", "watch", true],
    ]);
    expect(paths[`${base}/configmaps`]!["get"]!["responses"]).toMatchObject({
      200: { schema: { $ref: `#/definitions/${meta}.WatchEvent` } },
    });
    expect(definitions[`${meta}.WatchEvent`]).toMatchObject({ required: ["object", "type"] });
    expect(paths).not.toHaveProperty([`${base}/componentstatuses`]);
  });

  it("describes connection subresources by method, with their parameters", async () => {
    const { paths } = await whole();
    const pod = "/api/v1/namespaces/{namespace}/pods/{name}";
    const described = (path: string) => {
      const { parameters, ...operations } = paths[path] as unknown as Record<string, Operation> & {
        parameters: { name: string; in: string }[];
      };
      const ids = Object.values(operations).map(({ operationId }) => operationId);
      return [ids, parameters.filter((one) => one.in === "query").map(({ name }) => name)];
    };
    const connects = (methods: readonly string[], what: string) =>
      methods.map((method) => `connectCoreV1${method}Namespaced${what}`);
    const all = ["Get", "Head", "Post", "Put", "Patch", "Delete"];
    const [ids, asked] = described(`${pod}/proxy/{path}`);
    expect([ids!.toSorted(), asked]).toEqual([connects(all, "PodProxyWithPath").toSorted(), ["path"]]);
    const streams = ["container", "stdin", "stdout", "stderr", "tty"];
    expect(described(`${pod}/exec`)).toEqual([connects(["Post", "Get"], "PodExec"), ["command", ...streams]]);
    expect(described(`${pod}/attach`)).toEqual([connects(["Post", "Get"], "PodAttach"), streams]);
    expect(described(`${pod}/portforward`)).toEqual([connects(["Post", "Get"], "PodPortforward"), ["ports"]]);
    const [read, options] = described(`${pod}/log`);
    expect(read).toEqual(["readCoreV1NamespacedPodLog"]);
    expect(options).toEqual(expect.arrayContaining(["container", "follow", "tailLines", "pretty"]));
    expect(paths[`${pod}/log`]!["get"]).toHaveProperty(["produces", 0], "text/plain");
  });

  it("is available in binary", async () => {
    const { definitions, paths } = await whole();
    const { contentType, bytes } = await readBinary(server);
    expect(contentType).toBe("application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
    expect(textsAt(bytes, 1)).toEqual(["2.0"]);
    const names = (map: number, pairs: number) => textsAt(bytes, map, pairs, 1);
    expect(names(8, 2)).toEqual(Object.keys(paths));
    expect(names(9, 1)).toEqual(Object.keys(definitions));
  });

  it("is 304 for a request with the current ETag, and NotAcceptable for an unsupported type", async () => {
    const { etag } = (await api.get("/openapi/v2")).headers;
    const again = await api.get("/openapi/v2", { headers: { "if-none-match": etag! } });
    expect(again).toMatchObject({ status: 304, text: "" });
    expect((await api.get("/openapi/v2", { headers: { "if-none-match": '"other"' } })).status).toBe(200);
    expect((await api.get("/openapi/v2", { accept: "text/html" })).body).toMatchObject({
      reason: "NotAcceptable",
    });
  });

  it("has a v3 index, whose documents are self-contained", async () => {
    const index = (await api.get("/openapi/v3")).body as {
      paths: Record<string, { serverRelativeURL: string }>;
    };
    expect(Object.keys(index.paths)).toEqual(
      expect.arrayContaining(["api/v1", "apis/apps/v1", `apis/rbac.authorization.${suffix}/v1`]),
    );
    for (const [path, { serverRelativeURL }] of Object.entries(index.paths)) {
      expect(serverRelativeURL).toMatch(new RegExp(`^/openapi/v3/${path}\\?hash=[0-9A-F]{64}$`));
      const { status, body, headers } = await api.get(serverRelativeURL);
      expect(status).toBe(200);
      expect(headers["cache-control"]).toContain("immutable");
      const document = body as {
        openapi: string;
        paths: Paths;
        components: { schemas: Record<string, unknown> };
      };
      expect(document.openapi).toBe("3.0.0");
      expect(Object.keys(document.paths).every((one) => `${one}/`.startsWith(`/${path}/`))).toBe(true);
      const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)];
      for (const [, name] of references) expect(document.components.schemas).toHaveProperty([name!]);
    }
    const other = await api.get("/openapi/v3/api/v1?hash=OLD");
    expect(other).toMatchObject({
      status: 301,
      headers: { location: index.paths["api/v1"]!.serverRelativeURL },
    });
    expect((await api.get("/openapi/v3/apis/nothing/v1")).status).toBe(404);
    const proto = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf";
    expect((await api.get("/openapi/v3/api/v1", { accept: proto })).status).toBe(406);
  });

  it("has defaults only in v3, next to a wrapped reference", async () => {
    const { body } = await api.get("/openapi/v3/api/v1");
    const { schemas } = (
      body as { components: { schemas: Record<string, { properties: Record<string, object> }> } }
    ).components;
    expect(schemas[`${root}.api.core.v1.ConfigMap`]!.properties["metadata"]).toEqual({
      description: "Metadata of the ConfigMap.",
      default: {},
      allOf: [{ $ref: `#/components/schemas/${meta}.ObjectMeta` }],
    });
    const older = Object.values((await whole()).definitions) as { properties?: Record<string, object> }[];
    const fields = older.flatMap(({ properties = {} }) => Object.values(properties));
    expect(fields.filter((one) => "default" in one)).toEqual([]);
  });
});

async function readBinary({ server }: TestServer): Promise<{ contentType: string; bytes: Buffer }> {
  const headers = { accept: binary, authorization: `Bearer ${server.adminToken}` };
  const options = { ca: server.caCertificate!, headers, agent: false as const };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${server.url}/openapi/v2`, options, resolve).once("error", reject);
  });
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { contentType: response.headers["content-type"]!, bytes: Buffer.concat(chunks) };
}
