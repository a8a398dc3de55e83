import { BinaryReader } from "@bufbuild/protobuf/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ConfigMap } from "../../src/kinds/core/config-map.ts";
import { decodeMessage } from "../../src/schema/protobuf/decode-message.ts";
import { openEnvelope } from "../../src/schema/protobuf/envelope.ts";
import { AuditedServer } from "../audit/support.ts";
import { TestServer, type Api } from "../support/api.ts";
import { ExtensionServer } from "../support/extension-server.ts";
import { definition, order, served } from "./custom-resources/support.ts";
import { configMap, namesIn, namespace, ok, user } from "./support.ts";
import { chunksOf, createGrant, keysIn } from "./views-support.ts";

const maps = "/api/v1/configmaps";
const mine = `${maps}?view=mine`;
const reads = (...names: string[]) => ({
  verbs: ["get"],
  apiGroups: [""],
  resources: ["configmaps"],
  resourceNames: names,
});
const everyName = { verbs: ["get"], apiGroups: [""], resources: ["configmaps"] };

/** The names of a binary list. */
function namesInBinary(bytes: Buffer): string[] {
  const reader = new BinaryReader(openEnvelope(bytes).message);
  const names: string[] = [];
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number !== 2) reader.skip(wireType, number);
    else
      names.push(
        (decodeMessage(ConfigMap.type, reader.bytes()) as { metadata: { name: string } }).metadata.name,
      );
  }
  return names;
}

/** The content of a continue token. */
const contentOf = (token: string) =>
  JSON.parse(Buffer.from(token, "base64url").toString()) as Record<string, unknown>;

describe.each([
  ["platform", "platform.io", "application/vnd.platform.protobuf"],
  ["kubernetes", "k8s.io", "application/vnd.kubernetes.protobuf"],
] as const)("view=mine with the vocabulary %s", (vocabulary, domain, binary) => {
  let server: TestServer;
  let ann: Api;
  beforeAll(async () => {
    server = await TestServer.start({
      vocabulary,
      views: "get",
      anonymousAuth: true,
      users: [{ name: "ann", groups: ["staff"] }, { name: "bob" }],
    });
    ann = server.as("ann");
    for (const space of ["a", "b", "c"]) {
      await ok(server.admin.post("/api/v1/namespaces", namespace(space)));
      for (let i = 0; i < 9; i++) {
        const labels = { parity: i % 2 === 0 ? "even" : "odd" };
        await ok(
          server.admin.post(
            `/api/v1/namespaces/${space}/configmaps`,
            configMap(`${space}${i}`, {}, { labels }),
          ),
        );
      }
    }
    const rbac = `/apis/rbac.authorization.${domain}/v1`;
    const apiGroup = `rbac.authorization.${domain}`;
    const bind = async (space: string, rules: readonly object[]) => {
      const at = `${rbac}/namespaces/${space}`;
      const roleRef = { apiGroup, kind: "Role", name: "reader" };
      const subjects = [{ apiGroup, kind: "User", name: "ann" }];
      await ok(server.admin.post(`${at}/roles`, { metadata: { name: "reader" }, rules }));
      await ok(server.admin.post(`${at}/rolebindings`, { metadata: { name: "reader" }, roleRef, subjects }));
    };
    await bind("a", [reads("a1", "a2", "a8", "absent")]);
    await bind("c", [everyName]);
  });
  afterAll(() => server.close());

  const inC = Array.from({ length: 9 }, (_, i) => `c${i}`);
  const visible = ["a1", "a2", "a8", ...inC];

  test("has the objects that the user may get; without the parameter the list is forbidden", async () => {
    expect((await ann.get(maps)).status).toBe(403);
    expect(namesIn(await ok(ann.get(mine)))).toEqual(visible);
    expect(namesIn(await ok(ann.get("/api/v1/namespaces/a/configmaps?view=mine")))).toEqual([
      "a1",
      "a2",
      "a8",
    ]);
    expect(namesIn(await ok(ann.get("/api/v1/namespaces/b/configmaps?view=mine")))).toEqual([]);
    expect(namesIn(await ok(server.as("bob").get(mine)))).toEqual([]);
    expect((await ok(server.admin.get(mine))).body.items).toEqual(
      (await ok(server.admin.get(maps))).body.items,
    );
  });

  test("is encoded as table, metadata and in binary form", async () => {
    const table = await ok(ann.get(mine, { accept: `application/json;as=Table;g=meta.${domain};v=v1` }));
    const rows = table.body.rows as { cells: unknown[] }[];
    expect(rows.map(({ cells }) => cells[0])).toEqual(visible);
    const accept = `application/json;as=PartialObjectMetadataList;g=meta.${domain};v=v1`;
    const metadata = await ok(ann.get(mine, { accept }));
    expect(metadata.body.kind).toBe("PartialObjectMetadataList");
    expect(namesIn(metadata)).toEqual(visible);
    expect(namesInBinary((await ok(ann.get(mine, { accept: binary }))).bytes)).toEqual(visible);
  });

  test("is selected by labels and fields", async () => {
    const odd = await ok(ann.get(`${mine}&labelSelector=parity%3Dodd`));
    expect(namesIn(odd)).toEqual(["a1", "c1", "c3", "c5", "c7"]);
    expect(namesIn(await ok(ann.get(`${mine}&fieldSelector=metadata.name%3Da2`)))).toEqual(["a2"]);
    expect(namesIn(await ok(ann.get(`${mine}&fieldSelector=metadata.name%3Da3`)))).toEqual([]);
    const inA = "/api/v1/namespaces/a/configmaps?view=mine&fieldSelector=metadata.name%3D";
    expect(namesIn(await ok(ann.get(`${inA}a2`)))).toEqual(["a2"]);
    expect(namesIn(await ok(ann.get(`${inA}a3`)))).toEqual([]);
  });

  test.each([1, 3, 11, 12, 500])("limit=%d: chunks tell nothing of hidden objects", async (limit) => {
    for (const selector of ["", "&labelSelector=parity%3Deven"]) {
      const chunks = await chunksOf(ann, `${mine}&limit=${limit}${selector}`);
      const expected = selector === "" ? visible : ["a2", "a8", "c0", "c2", "c4", "c6", "c8"];
      expect(chunks.flatMap(namesIn)).toEqual(expected);
      expect(chunks).toHaveLength(Math.ceil(expected.length / limit));
      for (const chunk of chunks) {
        const { metadata } = chunk.body;
        expect(metadata.remainingItemCount).toBeUndefined();
        if (metadata.continue === undefined) continue;
        const { after, remaining } = contentOf(metadata.continue as string);
        expect(after).toBe(keysIn(chunk).at(-1));
        expect(remaining).toBeUndefined();
      }
    }
  });

  test("a continue token is valid for the same user and parameter only", async () => {
    const token = async (api: Api, query: string) =>
      encodeURIComponent((await ok(api.get(`${maps}?limit=2${query}`))).body.metadata.continue as string);
    const own = await token(ann, "&view=mine");
    for (const [api, query] of [
      [server.admin, `continue=${own}`],
      [server.admin, `view=mine&continue=${own}`],
      [ann, `view=mine&continue=${await token(server.admin, "")}`],
    ] as const) {
      const { status, body } = await api.get(`${maps}?limit=2&${query}`);
      expect([status, body.reason]).toEqual([400, "BadRequest"]);
      expect(body.message).toContain("parameter continue: the token is of a list with another view");
    }
    expect(namesIn(await ok(ann.get(`${maps}?view=mine&limit=2&continue=${own}`)))).toEqual(["a8", "c0"]);
  });

  test("a right that is granted or revoked between two chunks affects the next one", async () => {
    const first = (await ok(ann.get(`${mine}&limit=1`))).body.metadata.continue as string;
    const role = `/apis/rbac.authorization.${domain}/v1/namespaces/a/roles/reader`;
    await ok(server.admin.patch(role, { rules: [reads("a1", "a5")] }));
    const rest = `${mine}&continue=${encodeURIComponent(first)}`;
    expect(namesIn(await ok(ann.get(rest)))).toEqual(["a5", ...inC]);
    await ok(server.admin.patch(role, { rules: [reads("a1", "a2", "a8", "absent")] }));
  });

  test("an impersonated user has their own view", async () => {
    const headers = { "impersonate-user": "ann" };
    expect(namesIn(await ok(server.admin.get(mine, { headers })))).toEqual(visible);
    const other = { "impersonate-user": "bob" };
    expect(namesIn(await ok(server.admin.get(mine, { headers: other })))).toEqual([]);
  });

  test("an anonymous user needs the right to list", async () => {
    const { status, body } = await server.as(undefined).get(mine);
    expect(status).toBe(403);
    expect(body.message).toContain(`User "system:anonymous" cannot list resource "configmaps"`);
  });

  test("another value is a BadRequest with the allowed one; an empty value is none", async () => {
    const { status, body } = await server.admin.get(`${maps}?view=all`);
    expect([status, body.reason]).toEqual([400, "BadRequest"]);
    expect(body.message).toBe('parameter view: "all" is not supported; the only allowed value is "mine"');
    expect((await ann.get(`${maps}?view=`)).status).toBe(403);
  });

  test("deletions of collections with the parameter are refused", async () => {
    const deleted = await server.admin.ask("DELETE", "/api/v1/namespaces/b/configmaps?view=mine");
    expect(deleted.body.message).toContain("not by deletecollection");
    expect(namesIn(await ok(server.admin.get("/api/v1/namespaces/b/configmaps")))).toHaveLength(9);
    const right = await ann.ask("DELETE", "/api/v1/namespaces/a/configmaps?view=mine");
    expect(right.status).toBe(403);
  });

  test("the parameter gives no right to other paths", async () => {
    for (const path of [
      "/api/v1/namespaces/b/configmaps/b1?view=mine",
      "/api/v1/namespaces/b?view=mine",
      "/api/v1/namespaces/b/pods/x/log?view=mine",
      "/api/v1/namespaces/b/pods//log?view=mine",
      "/metrics?view=mine",
    ]) {
      expect([path, (await server.as("bob").get(path)).status]).toEqual([path, 403]);
    }
    expect((await server.as("bob").get("/api/v1/namespaces/b/nodes?view=mine")).status).toBe(404);
    expect((await server.as("bob").get("/api/v1/componentstatuses?view=mine")).body.items).toEqual([]);
    expect((await server.admin.get("/api/v1/componentstatuses?view=mine")).body.items).toHaveLength(1);
  });

  test("clients find the parameter in /openapi/extensions and in OpenAPI", async () => {
    expect((await ok(ann.get("/openapi/extensions"))).body).toMatchObject({
      listViews: ["mine"],
      watchViews: ["mine"],
    });
    const { body } = await ok(ann.get("/openapi/v3/api/v1"));
    const parameters = body.paths["/api/v1/configmaps"].get.parameters as { name: string }[];
    expect(parameters.map(({ name }) => name)).toContain("view");
  });
});

describe("view=mine with further authorizers", () => {
  test("an agent of a node sees the objects that the Node authorizer allows it to get", async () => {
    const server = await TestServer.start({
      authorizationModes: ["Node", "RBAC"],
      enabledAdmissionPlugins: ["NodeRestriction"],
      users: [{ name: "system:node:n1", groups: ["system:nodes"] }, { name: "ann" }],
    });
    try {
      const secrets = "/api/v1/namespaces/default/secrets";
      await server.admin.post("/api/v1/namespaces/default/serviceaccounts", {
        metadata: { name: "default" },
      });
      for (let i = 0; i < 5; i++) await ok(server.admin.post(secrets, { metadata: { name: `s${i}` } }));
      const volumes = ["s1", "s3"].map((secretName) => ({ name: secretName, secret: { secretName } }));
      const spec = { nodeName: "n1", containers: [{ name: "c", image: "i" }], volumes };
      await ok(server.admin.post("/api/v1/namespaces/default/pods", { metadata: { name: "web" }, spec }));
      const rule = { verbs: ["get"], apiGroups: [""], resources: ["secrets"], resourceNames: ["s4"] };
      const subject = user("system:node:n1");
      await createGrant(server.admin, {
        name: "s4",
        namespace: "",
        kind: "ClusterRole",
        rules: [rule],
        subject,
      });
      const agent = server.as("system:node:n1");
      const accept = "application/vnd.platform.protobuf";
      for (const path of ["/api/v1/secrets?view=mine", `${secrets}?view=mine`]) {
        expect(namesIn(await ok(agent.get(path)))).toEqual(["s1", "s3", "s4"]);
        const chunks = await chunksOf(agent, `${path}&limit=2`);
        expect(chunks.map(namesIn)).toEqual([["s1", "s3"], ["s4"]]);
        expect((await ok(agent.get(path, { accept }))).bytes.includes("s0")).toBe(false);
      }
      expect(namesIn(await ok(server.as("ann").get("/api/v1/secrets?view=mine")))).toEqual([]);
    } finally {
      await server.close();
    }
  });

  test("an authorizer that can't enumerate makes the view a BadRequest, except for users with every right", async () => {
    const authorizer = {
      name: "gate",
      authorize: () => ({ verdict: "noOpinion" as const, reason: "", evaluationError: "" }),
    };
    const server = await TestServer.start({ authorizers: [authorizer], users: [{ name: "ann" }] });
    try {
      const { status, body } = await server.as("ann").get(mine);
      expect(status).toBe(400);
      expect(body.message).toContain('parameter view: the authorizer "gate" can\'t enumerate');
      expect((await server.admin.get(mine)).status).toBe(200);
    } finally {
      await server.close();
    }
  });

  test("lists of an extension server need the right to list", async () => {
    const extension = await ExtensionServer.start();
    const server = await TestServer.start({ connections: { allowLoopback: true }, users: [{ name: "ann" }] });
    try {
      await extension.register(server.admin);
      const { status } = await server.as("ann").get(`${extension.path}/namespaces/default/widgets?view=mine`);
      expect(status).toBe(403);
      expect(extension.received.filter(({ url }) => url.includes("view=mine"))).toEqual([]);
    } finally {
      await server.close();
      await extension.close();
    }
  });
});

test("custom resources have views", async () => {
  const server = await TestServer.start({ users: [{ name: "ann" }] });
  try {
    const orders = await served(server.admin, definition());
    for (const name of ["one", "two"]) await ok(server.admin.post(orders, order(name)));
    const rule = { verbs: ["get"], apiGroups: ["*"], resources: ["orders"], resourceNames: ["two"] };
    const grant = { name: "two", namespace: "default", kind: "Role", rules: [rule] } as const;
    await createGrant(server.admin, { ...grant, subject: user("ann") });
    expect(namesIn(await ok(server.admin.get(orders)))).toEqual(["one", "two"]);
    const ann = server.as("ann");
    expect((await ann.get(orders)).status).toBe(403);
    expect(namesIn(await ok(ann.get(`${orders}?view=mine`)))).toEqual(["two"]);
    const all = orders.replace("/namespaces/default", "");
    expect(keysIn(await ok(ann.get(`${all}?view=mine`)))).toEqual(["default/two"]);
  } finally {
    await server.close();
  }
});

test("the audit event of a view has the verb list and the annotation of the view", async () => {
  const server = await AuditedServer.start("rules: [{level: Metadata}]", {});
  try {
    const answer = await ok(server.api.admin.get(mine));
    const [event] = (await server.events(answer.headers["audit-id"])).slice(-1);
    expect(event.verb).toBe("list");
    expect(event.annotations).toMatchObject({
      "authorization.platform.io/decision": "allow",
      "authorization.platform.io/view": "mine",
    });
    const plain = await ok(server.api.admin.get(maps));
    const [other] = (await server.events(plain.headers["audit-id"])).slice(-1);
    expect(other.annotations["authorization.platform.io/view"]).toBeUndefined();
  } finally {
    await server.close();
  }
});
