import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { TestServer } from "../support/api.ts";
import { useServer } from "../support/use-server.ts";
import { RBAC, configMap, namesIn, namespace, ok, podReader, role, roleKinds } from "./support.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";

const server = useServer();

describe.each(roleKinds)("$kind", ({ kind, list, make }) => {
  test("A-4.2-10 C-4.2-04 POST answers 201 with the object", async () => {
    const { status, body } = await server.admin.post(list, make("made"));
    expect([status, body.kind, body.metadata.name]).toEqual([201, kind, "made"]);
  });

  test("A-4.2-08 C-4.2-01 GET of the item answers 200 with the object", async () => {
    const { status, body } = await server.admin.get(`${list}/made`);
    expect([status, body.kind, body.metadata.name]).toEqual([200, kind, "made"]);
  });

  test("A-4.2-09 C-4.2-02 GET of the collection answers 200 with its list kind", async () => {
    const { status, body } = await server.admin.get(list);
    expect([status, body.kind]).toEqual([200, `${kind}List`]);
  });

  test("A-4.2-11 POST, PUT and PATCH without a body are 400", async () => {
    for (const [method, at] of [
      ["POST", list],
      ["PUT", `${list}/made`],
      ["PATCH", `${list}/made`],
    ] as const) {
      const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
      const { status, body } = await server.admin.ask(method, at, { raw: "", contentType });
      expect([method, status, body.reason]).toEqual([method, 400, "BadRequest"]);
    }
  });

  test("A-4.2-12 C-4.2-06 PUT replaces the whole object and answers 200", async () => {
    const { status, body } = await server.admin.put(`${list}/made`, make("made", { labels: { a: "b" } }));
    expect([status, body.metadata.labels]).toEqual([200, { a: "b" }]);
    const again = await server.admin.put(`${list}/made`, make("made"));
    expect(again.body.metadata).not.toHaveProperty("labels");
  });

  test("A-4.2-12 C-4.2-05 PUT of a missing object creates it and answers 201", async () => {
    const { status, body } = await server.admin.put(`${list}/put`, make("put"));
    expect([status, body.metadata.name]).toEqual([201, "put"]);
    expect((await server.admin.get(`${list}/put`)).body).toEqual(body);
    const versioned = await server.admin.put(`${list}/put-2`, make("put-2", { resourceVersion: "5" }));
    expect(versioned.status).toBe(409);
  });

  test("A-4.2-13 C-4.2-07 PATCH answers 200 with the object", async () => {
    const { status, body } = await server.admin.patch(`${list}/made`, { metadata: { labels: { c: "d" } } });
    expect([status, body.metadata.labels]).toEqual([200, { c: "d" }]);
    expect((await server.admin.patch(`${list}/missing`, {})).status).toBe(404);
  });

  test("A-4.2-14 C-4.2-08 DELETE of the item answers 200 with a Status", async () => {
    const { uid } = (await server.admin.get(`${list}/put`)).body.metadata;
    const { status, body } = await server.admin.delete(`${list}/put`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ kind: "Status", apiVersion: "v1", status: "Success" });
    expect(body.details).toMatchObject({ name: "put", group: "rbac.authorization.platform.io", uid });
    expect((await server.admin.get(`${list}/put`)).status).toBe(404);
  });

  test("A-4.2-15 A-4.2-29 C-4.3-11 DELETE supports DeleteOptions as body or as parameters", async () => {
    const options = {
      kind: "DeleteOptions",
      apiVersion: "v1",
      gracePeriodSeconds: 0,
      propagationPolicy: "Background",
    };
    await ok(server.admin.post(list, make("goes")));
    await ok(server.admin.delete(`${list}/goes`, { body: options }));
    await ok(server.admin.post(list, make("goes")));
    await ok(
      server.admin.delete(`${list}/goes?gracePeriodSeconds=5&propagationPolicy=Foreground&pretty=true`),
    );
    await ok(server.admin.post(list, make("goes", { labels: { collection: "yes" } })));
    const query =
      "labelSelector=collection%3Dyes&gracePeriodSeconds=0&propagationPolicy=Orphan&timeoutSeconds=9";
    await ok(server.admin.delete(`${list}?${query}`, { body: options }));
    expect((await server.admin.get(`${list}/goes`)).status).toBe(404);
  });

  test("A-4.2-16 A-4.2-30 A-4.2-33 C-4.2-09 C-4.3-05 DELETE of the collection deletes the selected objects", async () => {
    for (const name of ["c1", "c2", "c3"]) {
      await ok(server.admin.post(list, make(name, { labels: { batch: name === "c3" ? "two" : "one" } })));
    }
    const first = await server.admin.delete(
      `${list}?labelSelector=batch%3Done&timeoutSeconds=30&pretty=true`,
    );
    expect(first.status).toBe(200);
    expect(first.body).toMatchObject({ kind: "Status", status: "Success" });
    const left = () => server.admin.get(`${list}?labelSelector=batch`);
    expect(namesIn(await left())).toEqual(["c3"]);
    await ok(server.admin.delete(`${list}?fieldSelector=metadata.name%3Dc3`));
    expect(namesIn(await left())).toEqual([]);
  });

  test("A-4.2-18 every operation supports pretty", async () => {
    const pretty = "?pretty=true";
    const answers = [
      await server.admin.post(`${list}${pretty}`, make("pretty")),
      await server.admin.get(`${list}/pretty${pretty}`),
      await server.admin.get(`${list}${pretty}`),
      await server.admin.put(`${list}/pretty${pretty}`, make("pretty")),
      await server.admin.ask("PATCH", `${list}/pretty${pretty}`, {
        body: {},
        contentType: "application/merge-patch+json",
      }),
    ];
    for (const answer of answers) expect(answer.text).toMatch(/^\{\n {2}"kind": /);
    expect((await server.admin.delete(`${list}/pretty${pretty}`)).status).toBe(200);
    expect((await server.admin.delete(`${list}${pretty}&fieldSelector=metadata.name%3Dnone`)).status).toBe(
      200,
    );
  });
});

describe("C-4.3-10 pretty", () => {
  test.each(["true", "1"])("pretty=%s indents the response", async (value) => {
    expect((await server.admin.get(`/api/v1/namespaces/default?pretty=${value}`)).text).toContain(
      '\n  "metadata": {',
    );
  });
  test.each(["pretty=false", "pretty=0", "pretty=", ""])("?%s doesn't indent the response", async (query) => {
    expect((await server.admin.get(`/api/v1/namespaces/default?${query}`)).text).not.toContain('\n  "');
  });
});

describe("update", () => {
  test("PUT of a missing object is 404 for a kind that can't be created by an update", async () => {
    const { status, body } = await server.admin.put(`${configMaps}/missing`, configMap("missing"));
    expect([status, body.reason]).toEqual([404, "NotFound"]);
  });

  test("PUT of a missing object with a uid is a failed precondition", async () => {
    const leases = "/apis/coordination.platform.io/v1/namespaces/default/leases";
    const lease = (uid?: string) => ({ metadata: { name: "new", uid }, spec: { holderIdentity: "me" } });
    const named = await server.admin.put(`${leases}/new`, lease("0f0e0d0c-0000-4000-8000-000000000000"));
    expect([named.status, named.body.reason]).toEqual([409, "Conflict"]);
    expect((await server.admin.put(`${leases}/new`, lease())).status).toBe(201);
    const unversioned = await server.admin.put(`${leases}/new`, lease());
    expect(unversioned.status).toBe(422);
    expect(unversioned.body.details.causes[0].field).toBe("metadata.resourceVersion");
  });

  test.each([
    ["another name", configMap("other"), 400],
    ["no name", { data: {} }, 400],
    ["another namespace", configMap("up", {}, { namespace: "elsewhere" }), 400],
    ["another kind", { ...configMap("up"), kind: "Secret" }, 400],
    ["another version", { ...configMap("up"), apiVersion: "v2" }, 400],
    ["an old version", configMap("up", {}, { resourceVersion: "1" }), 409],
    ["a version that is none", configMap("up", {}, { resourceVersion: "abc" }), 409],
    ["another uid", configMap("up", {}, { uid: "other" }), 409],
  ])("with %s is refused", async (_what, sent, status) => {
    await server.admin.post(configMaps, configMap("up"));
    const before = (await server.admin.get(`${configMaps}/up`)).text;
    expect((await server.admin.put(`${configMaps}/up`, sent)).status).toBe(status);
    expect((await server.admin.get(`${configMaps}/up`)).text).toBe(before);
  });

  test("with the current resourceVersion or none succeeds; without a change the resourceVersion stays", async () => {
    const first = (await ok(server.admin.post(configMaps, configMap("versioned")))).body;
    const at = first.metadata.resourceVersion;
    const same = await ok(server.admin.put(`${configMaps}/versioned`, first));
    expect(same.body.metadata.resourceVersion).toBe(at);
    const second = await ok(server.admin.put(`${configMaps}/versioned`, { ...first, data: { a: "b" } }));
    expect(Number(second.body.metadata.resourceVersion)).toBeGreaterThan(Number(at));
    const third = await ok(server.admin.put(`${configMaps}/versioned`, configMap("versioned")));
    expect(third.body.metadata.uid).toBe(first.metadata.uid);
    expect(third.body.metadata.creationTimestamp).toBe(first.metadata.creationTimestamp);
  });

  test("a resourceVersion on create is refused with 400", async () => {
    const sent = configMap("with-version", {}, { resourceVersion: "1" });
    expect((await server.admin.post(configMaps, sent)).status).toBe(400);
  });

  test("immutable fields can't change: the type of a Secret, immutable data, a roleRef", async () => {
    const secrets = "/api/v1/namespaces/default/secrets";
    await ok(
      server.admin.post(secrets, {
        metadata: { name: "fixed" },
        type: "x/y",
        immutable: true,
        data: { a: "Yg==" },
      }),
    );
    const changes = [
      { type: "x/z" },
      { data: { a: "Yw==" } },
      { immutable: false },
      { stringData: { c: "d" } },
    ];
    for (const change of changes)
      expect((await server.admin.patch(`${secrets}/fixed`, change)).status).toBe(422);
    expect((await server.admin.patch(`${secrets}/fixed`, { metadata: { labels: { a: "b" } } })).status).toBe(
      200,
    );
    const bindings = roleKinds[3].list;
    await ok(server.admin.post(bindings, roleKinds[3].make("fixed-role")));
    const { status, body } = await server.admin.patch(`${bindings}/fixed-role`, {
      roleRef: { name: "edit" },
    });
    expect([status, body.details.causes[0].field]).toEqual([422, "roleRef"]);
  });
});

describe("creation", () => {
  test("in a missing namespace is 404 with the name of the namespace", async () => {
    const { status, body } = await server.admin.post("/api/v1/namespaces/nowhere/configmaps", configMap("x"));
    expect([status, body.message]).toEqual([404, 'namespaces "nowhere" not found']);
  });

  test("stringData of a Secret is written to data", async () => {
    const sent = { metadata: { name: "text" }, stringData: { a: "b" }, data: { a: "eA==", c: "ZA==" } };
    const { body } = await ok(server.admin.post("/api/v1/namespaces/default/secrets", sent));
    expect(body).toMatchObject({ type: "Opaque", data: { a: "Yg==", c: "ZA==" } });
    expect(body).not.toHaveProperty("stringData");
  });
});

describe("C-1-02 storage", () => {
  test("objects survive a restart", async () => {
    const dir = mkdtempSync(path.join(tmpdir(), "plinth-restart-"));
    try {
      const first = await TestServer.start({ storage: { engine: "embedded", dir } });
      await ok(first.admin.post("/api/v1/namespaces", namespace("kept")));
      const { text } = await ok(first.admin.post(`${RBAC}/namespaces/kept/roles`, role("kept", [podReader])));
      await first.close();
      const second = await TestServer.start({ storage: { engine: "embedded", dir } });
      expect((await second.admin.get(`${RBAC}/namespaces/kept/roles/kept`)).text).toBe(text);
      await second.close();
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
});
