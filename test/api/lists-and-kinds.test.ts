import { beforeAll, describe, expect, test } from "vitest";
import { useServer } from "../support/use-server.ts";
import {
  RBAC,
  configMap,
  namesIn,
  namespace,
  ok,
  podReader,
  refTo,
  rbacGroup,
  roleKinds,
  user,
} from "./support.ts";

const server = useServer();
beforeAll(async () => {
  for (const { list, make } of roleKinds) await ok(server.admin.post(list, make("kinds")));
});

describe("kind and apiVersion of objects and lists", () => {
  test.each([
    ["A-2.4-14", roleKinds[0]],
    ["A-2.4-27", roleKinds[1]],
    ["A-2.4-16", roleKinds[2]],
    ["A-2.4-32", roleKinds[3]],
  ])(
    "%s A-2.1-01 A-2.1-02 A-2.1-03 C-2.1-08 the list of $kind has kind, apiVersion and items",
    async (_id, { kind, list }) => {
      const { body } = await ok(server.admin.get(list));
      expect(body.kind).toBe(`${kind}List`);
      expect(body.apiVersion).toBe(`${rbacGroup}/v1`);
      expect(body.metadata.resourceVersion).toMatch(/^\d+$/);
      expect(body.metadata).not.toHaveProperty("uid");
      expect(Array.isArray(body.items)).toBe(true);
      expect(body.items).not.toHaveLength(0);
      for (const item of body.items) {
        // The list's kind implies the kind of its items; each item has its own kind when it is returned alone.
        expect(item).not.toHaveProperty("kind");
        expect(item).not.toHaveProperty("apiVersion");
        expect(item.metadata.uid).toBeTypeOf("string");
      }
      const one = await ok(server.admin.get(`${list}/${body.items[0].metadata.name}`));
      expect([one.body.kind, one.body.apiVersion]).toEqual([kind, `${rbacGroup}/v1`]);
    },
  );

  test("A-2.4-14 an empty list has an empty array of items", async () => {
    await ok(server.admin.post("/api/v1/namespaces", namespace("empty")));
    for (const type of ["roles", "rolebindings"]) {
      const { body } = await server.admin.get(`${RBAC}/namespaces/empty/${type}`);
      expect(body.items).toEqual([]);
    }
  });

  test("A-2.4-15 a Role has rules and no aggregationRule", async () => {
    const sent = { ...roleKinds[2].make("plain"), aggregationRule: { clusterRoleSelectors: [{}] } };
    const { body, warnings } = await ok(server.admin.post(roleKinds[2].list, sent));
    expect(Object.keys(body)).toEqual(["kind", "apiVersion", "metadata", "rules"]);
    expect(body.rules).toEqual([podReader]);
    expect(warnings).toEqual(['unknown field "aggregationRule"']);
  });

  test.each([
    ["A-2.4-24", roleKinds[1]],
    ["A-2.4-28", roleKinds[3]],
  ])(
    "%s a $kind requires roleRef, has optional subjects, and A-1-09 has no rules",
    async (_id, { list, make, kind }) => {
      const { subjects: _, ...noSubjects } = make("no-subjects") as Record<string, unknown>;
      const { body } = await ok(server.admin.post(list, { ...noSubjects, rules: [podReader] }));
      expect(Object.keys(body)).toEqual(["kind", "apiVersion", "metadata", "roleRef"]);
      const { roleRef: __, ...noRole } = make("no-role") as Record<string, unknown>;
      const refused = await server.admin.post(list, noRole);
      expect([refused.status, refused.body.reason]).toEqual([422, "Invalid"]);
      expect(refused.body.details.kind).toBe(kind);
    },
  );

  test.each(["apiGroup", "kind", "name"])("A-2.4-23 roleRef.%s is required", async (field) => {
    const { [field]: _, ...roleRef } = refTo("ClusterRole", "view") as Record<string, string>;
    const { status, body } = await server.admin.post(roleKinds[3].list, {
      metadata: { name: `without-${field.toLowerCase()}` },
      subjects: [user("ann")],
      roleRef,
    });
    if (field === "apiGroup") {
      expect([status, body.roleRef.apiGroup]).toEqual([201, rbacGroup]);
      return;
    }
    expect(status).toBe(422);
    expect(body.details.causes.map((one: { field: string }) => one.field)).toContain(`roleRef.${field}`);
  });

  test("C-2.1-09 no kind is named List", async () => {
    const items = [configMap("in-a-list")];
    for (const path of ["/api/v1/namespaces/default/configmaps", `${RBAC}/clusterroles`]) {
      const { status } = await server.admin.post(path, { apiVersion: "v1", kind: "List", items });
      expect(status).toBe(400);
    }
    expect((await server.admin.get("/api/v1/lists")).status).toBe(404);
  });

  test("C-4.2-11 several objects in one body are not accepted", async () => {
    const path = "/api/v1/namespaces/default/configmaps";
    const both = [configMap("one"), configMap("two")];
    const list = { apiVersion: "v1", kind: "ConfigMapList", items: both };
    expect((await server.admin.post(path, both)).status).toBe(400);
    expect((await server.admin.post(path, list)).status).toBe(400);
    const yaml = both.map((one) => JSON.stringify(one)).join("\n---\n");
    const documents = await server.admin.ask("POST", path, {
      raw: `---\n${yaml}`,
      contentType: "application/yaml",
    });
    expect(documents.status).toBe(400);
    expect((await server.admin.put(`${path}/one`, both)).status).toBe(400);
    expect((await server.admin.get(`${path}/one`)).status).toBe(404);
  });
});

describe("names", () => {
  const configMaps = "/api/v1/namespaces/default/configmaps";
  test("C-2.1-04 a second object of the same kind, namespace and name is refused", async () => {
    await ok(server.admin.post(configMaps, configMap("twice")));
    const { status, body } = await server.admin.post(configMaps, configMap("twice"));
    expect([status, body.reason]).toEqual([409, "AlreadyExists"]);
    expect(body.message).toBe('configmaps "twice" already exists');
    expect(body.details).toEqual({ name: "twice", kind: "configmaps" });
  });

  test("C-2.1-05 the same name may be used in another namespace", async () => {
    await ok(server.admin.post("/api/v1/namespaces", namespace("other")));
    await ok(server.admin.post(configMaps, configMap("shared")));
    await ok(server.admin.post("/api/v1/namespaces/other/configmaps", configMap("shared")));
  });

  test("C-2.1-06 a name may be used again after deletion", async () => {
    const first = await ok(server.admin.post(configMaps, configMap("reused")));
    await ok(server.admin.delete(`${configMaps}/reused`));
    const second = await ok(server.admin.post(configMaps, configMap("reused")));
    expect(second.body.metadata.uid).not.toBe(first.body.metadata.uid);
  });

  test("C-2.1-07 the name of a cluster-scoped object is unique in the cluster", async () => {
    const { status } = await server.admin.post(`${RBAC}/clusterroles`, roleKinds[0].make("view"));
    expect(status).toBe(409);
  });

  test("C-2.1-03 a virtual type has no name", async () => {
    const path = "/apis/authorization.platform.io/v1/subjectaccessreviews";
    const spec = { user: "ann", nonResourceAttributes: { path: "/x", verb: "get" } };
    const { status, body } = await server.admin.post(path, { spec });
    expect(status).toBe(201);
    expect(body.metadata).not.toHaveProperty("name");
    expect((await server.admin.get(path)).status).toBe(405);
  });

  test("C-2.2-01 generateName is completed with a unique random suffix", async () => {
    const sent = { metadata: { generateName: "job-" }, data: { a: "b" } };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => ok(server.admin.post(configMaps, sent))),
    );
    const names = answers.map(({ body }) => body.metadata.name as string);
    expect(new Set(names).size).toBe(20);
    for (const name of names) expect(name).toMatch(/^job-[a-z0-9]{5}$/);
    expect(answers[0]!.body.metadata.generateName).toBe("job-");
  });

  test("name takes precedence over generateName", async () => {
    const sent = { metadata: { name: "given", generateName: "job-" } };
    expect((await ok(server.admin.post(configMaps, sent))).body.metadata.name).toBe("given");
  });

  test("C-2.2-02 and C-2.2-03 the server sets creationTimestamp and a random uid, whatever the client sends", async () => {
    const meta = {
      uid: "mine",
      creationTimestamp: "2001-01-01T00:00:00Z",
      deletionTimestamp: "2001-01-01T00:00:00Z",
      selfLink: "/x",
    };
    const one = (await ok(server.admin.post(configMaps, configMap("stamped", {}, meta)))).body.metadata;
    expect(one.uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(Math.abs(Date.parse(one.creationTimestamp) - Date.now())).toBeLessThan(60_000);
    for (const field of ["deletionTimestamp", "selfLink"]) expect(one).not.toHaveProperty(field);
    const two = (await ok(server.admin.post(configMaps, configMap("stamped-2")))).body.metadata;
    expect(two.uid).not.toBe(one.uid);
  });

  test.each(["Upper", "under_score", "-dash", "dash-", "a..b", "x".repeat(254), "sl/ash", "", "ü"])(
    "the name %j of a ConfigMap is refused with 422",
    async (name) => {
      const { status, body } = await server.admin.post(configMaps, configMap(name));
      expect([status, body.reason]).toEqual([422, "Invalid"]);
      expect(body.details.causes[0].field).toBe("metadata.name");
    },
  );

  test("names of roles may hold colons and capitals, but no slash and no percent sign", async () => {
    await ok(server.admin.post(`${RBAC}/clusterroles`, roleKinds[0].make("Team:Reader_1")));
    expect((await server.admin.get(`${RBAC}/clusterroles/Team:Reader_1`)).status).toBe(200);
    for (const name of ["a/b", "50%", "..", "."]) {
      expect((await server.admin.post(`${RBAC}/clusterroles`, roleKinds[0].make(name))).status).toBe(422);
    }
  });
});

describe("C-4.3-05 A-4.2-21 selectors", () => {
  const path = "/api/v1/namespaces/selectors/configmaps";
  beforeAll(async () => {
    await ok(server.admin.post("/api/v1/namespaces", namespace("selectors")));
    const objects = { a: { app: "web", tier: "1" }, b: { app: "web", tier: "2" }, c: { app: "db" }, d: {} };
    for (const [name, labels] of Object.entries(objects))
      await ok(server.admin.post(path, configMap(name, {}, { labels })));
  });

  test.each([
    ["labelSelector", "app=web", "ab"],
    ["labelSelector", "app==web,tier=2", "b"],
    ["labelSelector", "app!=web", "cd"],
    ["labelSelector", "app", "abc"],
    ["labelSelector", "!app", "d"],
    ["labelSelector", "app in (web, db)", "abc"],
    ["labelSelector", "app notin (web)", "cd"],
    ["labelSelector", "tier>1", "b"],
    ["labelSelector", "tier<2", "a"],
    ["labelSelector", "", "abcd"],
    ["labelSelector", "constructor", ""],
    ["fieldSelector", "metadata.name=b", "b"],
    ["fieldSelector", "metadata.name!=b", "acd"],
    ["fieldSelector", "metadata.namespace=selectors,metadata.name==c", "c"],
    ["fieldSelector", "metadata.namespace=default", ""],
  ])("%s=%s selects %j", async (parameter, text, names) => {
    const { body } = await ok(server.admin.get(`${path}?${parameter}=${encodeURIComponent(text)}`));
    expect(body.items.map((one: { metadata: { name: string } }) => one.metadata.name).join("")).toBe(names);
  });

  test.each([
    ["labelSelector", "app in"],
    ["labelSelector", "=x"],
    ["labelSelector", "a=-bad-"],
    ["fieldSelector", "metadata.name"],
    ["fieldSelector", "data.key=x"],
    ["fieldSelector", "spec.nodeName=x"],
  ])("%s=%s is malformed or unknown: 400", async (parameter, text) => {
    const { status, body } = await server.admin.get(`${path}?${parameter}=${encodeURIComponent(text)}`);
    expect([status, body.reason]).toEqual([400, "BadRequest"]);
  });

  test("kinds support field selectors of their own", async () => {
    const active = await server.admin.get("/api/v1/namespaces?fieldSelector=status.phase%3DActive");
    expect(namesIn(active)).toContain("selectors");
    const secrets = "/api/v1/namespaces/selectors/secrets";
    await ok(server.admin.post(secrets, { metadata: { name: "s" }, type: "example.com/x" }));
    expect(namesIn(await server.admin.get(`${secrets}?fieldSelector=type%3Dexample.com/x`))).toEqual(["s"]);
    expect(namesIn(await server.admin.get(`${secrets}?fieldSelector=type%3DOpaque`))).toEqual([]);
  });

  test.each(roleKinds)(
    "A-4.2-21 A-4.2-23 A-4.2-18 lists of $kind support label and field selectors",
    async ({ list, make }) => {
      await ok(server.admin.post(list, make("chosen", { labels: { chosen: "yes" } })));
      const parameters =
        "labelSelector=chosen%3Dyes&fieldSelector=metadata.name%3Dchosen&timeoutSeconds=10&pretty=true";
      const answer = await ok(server.admin.get(`${list}?${parameters}`));
      expect(namesIn(answer)).toEqual(["chosen"]);
      expect(answer.text).toContain('\n  "');
    },
  );
});
