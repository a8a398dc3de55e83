import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { AuditedServer } from "../audit/support.ts";
import { TestServer, type Api, type Frame, type Watching } from "../support/api.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { definition, order, served } from "./custom-resources/support.ts";
import {
  RBAC,
  clusterRole,
  clusterRoleBinding,
  configMap,
  group,
  namespace,
  ok,
  refTo,
  role,
  roleBinding,
  user,
} from "./support.ts";
import { cpuStopwatch } from "../support/cpu-time.ts";

const maps = "/api/v1/configmaps";
const inA = "/api/v1/namespaces/a/configmaps";
const inB = "/api/v1/namespaces/b/configmaps";
const mine = `${maps}?view=mine`;
const reads = (...resourceNames: string[]) => ({
  verbs: ["get"],
  apiGroups: [""],
  resources: ["configmaps"],
  resourceNames,
});
const readsAll = { verbs: ["get"], apiGroups: [""], resources: ["configmaps"] };

const shown = ({ type, object }: Frame) =>
  `${type} ${object.metadata.namespace ?? ""}/${object.metadata.name}`;
const versionOf = ({ object }: Frame) => Number(object.metadata.resourceVersion);

async function next(watching: Watching, count: number): Promise<string[]> {
  const frames: string[] = [];
  while (frames.length < count) frames.push(shown(await watching.next()));
  return frames;
}

let server: TestServer;
let ann: Api;
beforeAll(async () => {
  server = await TestServer.start({
    featureGates: "WatchList=true",
    users: [{ name: "ann", groups: ["staff"] }, { name: "bob" }],
    anonymousAuth: true,
  });
  ann = server.as("ann");
  for (const space of ["a", "b"]) {
    await ok(server.admin.post("/api/v1/namespaces", namespace(space)));
    for (const name of ["one", "two", "three"]) {
      await ok(
        server.admin.post(
          `/api/v1/namespaces/${space}/configmaps`,
          configMap(name, {}, { labels: { n: name } }),
        ),
      );
    }
  }
  await ok(server.admin.post(`${RBAC}/namespaces/a/roles`, role("reader", [reads("one", "two")])));
  await ok(server.admin.post(`${RBAC}/clusterroles`, clusterRole("all", [readsAll])));
});
afterAll(() => server.close());

const bindInA = () =>
  ok(
    server.admin.post(
      `${RBAC}/namespaces/a/rolebindings`,
      roleBinding("ann", refTo("Role", "reader"), [user("ann")]),
    ),
  );
const unbindInA = () => ok(server.admin.delete(`${RBAC}/namespaces/a/rolebindings/ann`));
beforeEach(async () => {
  await server.admin.delete(`${RBAC}/namespaces/a/rolebindings/ann`);
  await server.admin.delete(`${RBAC}/clusterrolebindings/ann-all`);
  await ok(server.admin.put(`${RBAC}/namespaces/a/roles/reader`, role("reader", [reads("one", "two")])));
});

/** The current resourceVersion of the view. */
const versionNow = async () => (await ok(ann.get(mine))).body.metadata.resourceVersion as string;

describe("a watch with view=mine", () => {
  test("sends ADDED when a grant shows objects and DELETED when a revocation hides them, and nothing of other objects", async () => {
    const watching = await ann.watch(`${mine}&resourceVersion=${await versionNow()}`);
    expect(watching.status).toBe(200);
    await ok(server.admin.patch(`${inA}/one`, { data: { hidden: "yes" } }));
    const bound = (await bindInA()).body.metadata.resourceVersion;
    const added = [await watching.next(), await watching.next()];
    expect(added.map(shown)).toEqual(["ADDED a/one", "ADDED a/two"]);
    const current = (await ok(server.admin.get(`${inA}/one`))).body;
    expect(added[0]!.object).toEqual(current);
    // The object has its own version, with which it can be updated.
    expect(versionOf(added[0]!)).toBeLessThan(Number(bound));
    await ok(server.admin.patch(`${inB}/one`, { data: { hidden: "yes" } }));
    await ok(server.admin.patch(`${inA}/three`, { data: { hidden: "yes" } }));
    await ok(server.admin.patch(`${inA}/two`, { data: { seen: "yes" } }));
    expect(await next(watching, 1)).toEqual(["MODIFIED a/two"]);
    const { body } = await ok(
      server.admin.put(`${RBAC}/namespaces/a/roles/reader`, role("reader", [reads("two", "three")])),
    );
    expect(await next(watching, 1)).toEqual(["ADDED a/three"]);
    const hidden = await watching.next();
    expect([shown(hidden), versionOf(hidden)]).toEqual([
      "DELETED a/one",
      Number(body.metadata.resourceVersion),
    ]);
    expect(hidden.object.data).toEqual({ hidden: "yes" });
    await unbindInA();
    expect(await next(watching, 2)).toEqual(["DELETED a/three", "DELETED a/two"]);
    await ok(server.admin.patch(`${inA}/two`, { data: { seen: "no" } }));
    watching.close();
  });

  test("begins with the objects of the view, and a bookmark follows objects that a grant shows", async () => {
    await bindInA();
    const watching = await ann.watch(`${mine}&labelSelector=n&allowWatchBookmarks=true`);
    expect(await next(watching, 2)).toEqual(["ADDED a/one", "ADDED a/two"]);
    const binding = clusterRoleBinding("ann-all", refTo("ClusterRole", "all"), [group("staff")]);
    const { body } = await ok(server.admin.post(`${RBAC}/clusterrolebindings`, binding));
    expect(await next(watching, 4)).toEqual(["ADDED a/three", "ADDED b/one", "ADDED b/three", "ADDED b/two"]);
    const bookmark = await watching.next();
    expect([bookmark.type, versionOf(bookmark)]).toEqual(["BOOKMARK", Number(body.metadata.resourceVersion)]);
    // A view of everything by RBAC can be revoked.
    const everything = await ann.watch(`${inB}?view=mine&labelSelector=n`);
    expect(await next(everything, 3)).toEqual(["ADDED b/one", "ADDED b/three", "ADDED b/two"]);
    await ok(server.admin.delete(`${RBAC}/clusterrolebindings/ann-all`));
    expect(await next(everything, 3)).toEqual(["DELETED b/one", "DELETED b/three", "DELETED b/two"]);
    expect(await next(watching, 4)).toEqual([
      "DELETED a/three",
      "DELETED b/one",
      "DELETED b/three",
      "DELETED b/two",
    ]);
    watching.close();
    everything.close();
  });

  test("sends the view as initial events with sendInitialEvents, and then the bookmark of the view", async () => {
    await bindInA();
    const initial = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    const version = await versionNow();
    for (const from of ["", `&resourceVersion=${version}`]) {
      const watching = await ann.watch(`${mine}&${initial}${from}`);
      expect(await next(watching, 2)).toEqual(["ADDED a/one", "ADDED a/two"]);
      const bookmark = await watching.next();
      expect(bookmark.type).toBe("BOOKMARK");
      expect(versionOf(bookmark)).toBeGreaterThanOrEqual(Number(version));
      await ok(server.admin.patch(`${inA}/two`, { data: { changed: `at ${from}` } }));
      expect(await next(watching, 1)).toEqual(["MODIFIED a/two"]);
      watching.close();
    }
  });

  test("resumes at the version of a list or event with the grants of that version", async () => {
    const before = await versionNow();
    await bindInA();
    const between = await versionNow();
    await ok(server.admin.patch(`${inA}/one`, { data: { at: between } }));
    await unbindInA();
    await ok(server.admin.patch(`${inA}/one`, { data: { at: "last" } }));
    const end = await versionNow();
    for (const [version, expected] of [
      [before, ["ADDED a/one", "ADDED a/two", "MODIFIED a/one", "DELETED a/one", "DELETED a/two"]],
      [between, ["MODIFIED a/one", "DELETED a/one", "DELETED a/two"]],
    ] as const) {
      const watching = await ann.watch(`${mine}&resourceVersion=${version}`);
      expect(await next(watching, expected.length)).toEqual(expected);
      watching.close();
    }
    const last = await ann.watch(`${mine}&resourceVersion=${end}`);
    await bindInA();
    expect(await next(last, 2)).toEqual(["ADDED a/one", "ADDED a/two"]);
    last.close();
  });

  test("is combined with selectors", async () => {
    const watching = await ann.watch(`${mine}&labelSelector=n%3Dtwo&resourceVersion=${await versionNow()}`);
    const named = await ann.watch(
      `${inA}?view=mine&fieldSelector=metadata.name%3Done&resourceVersion=${await versionNow()}`,
    );
    await bindInA();
    expect(await next(watching, 1)).toEqual(["ADDED a/two"]);
    expect(await next(named, 1)).toEqual(["ADDED a/one"]);
    await ok(server.admin.patch(`${inA}/two`, { metadata: { labels: { n: "other" } } }));
    expect(await next(watching, 1)).toEqual(["DELETED a/two"]);
    await ok(server.admin.patch(`${inA}/two`, { metadata: { labels: { n: "two" } } }));
    expect(await next(watching, 1)).toEqual(["ADDED a/two"]);
    await unbindInA();
    expect(await next(watching, 1)).toEqual(["DELETED a/two"]);
    expect(await next(named, 1)).toEqual(["DELETED a/one"]);
    watching.close();
    named.close();
  });

  test("is encoded as table, metadata and in binary form", async () => {
    const from = await versionNow();
    const table = await ann.watch(`${mine}&resourceVersion=${from}`, {
      accept: "application/json;as=Table;g=meta.platform.io;v=v1",
    });
    const metadata = await ann.watch(`${mine}&resourceVersion=${from}`, {
      accept: "application/json;as=PartialObjectMetadata;g=meta.platform.io;v=v1",
    });
    await bindInA();
    const { type, object } = await table.next();
    expect([type, object.kind, (object.rows as { cells: unknown[] }[])[0]!.cells[0]]).toEqual([
      "ADDED",
      "Table",
      "one",
    ]);
    const added = await metadata.next();
    expect([shown(added), added.object.kind, added.object.data]).toEqual([
      "ADDED a/one",
      "PartialObjectMetadata",
      undefined,
    ]);
    await unbindInA();
    table.close();
    metadata.close();
    const binary = await ann.get(`${mine}&watch=true&timeoutSeconds=1&resourceVersion=${from}`, {
      accept: "application/vnd.platform.protobuf;stream=watch",
    });
    expect(binary.headers["content-type"]).toContain("stream=watch");
    for (const text of ["ADDED", "DELETED", "one", "two"])
      expect([text, binary.bytes.includes(text)]).toEqual([text, true]);
    expect(binary.bytes.includes("three")).toBe(false);
  });

  test("namespaces, roles and custom resources have views", async () => {
    const orders = await served(server.admin, definition());
    for (const name of ["first", "second"]) await ok(server.admin.post(orders, order(name)));
    const watches = await Promise.all(
      ["/api/v1/namespaces", `${RBAC}/namespaces/a/rolebindings`, orders].map(async (path) => {
        const from = (await ok(ann.get(`${path}?view=mine`))).body.metadata.resourceVersion as string;
        return ann.watch(`${path}?view=mine&resourceVersion=${from}`);
      }),
    );
    const [spaces, bindings, customs] = watches as [Watching, Watching, Watching];
    const rules = [
      { verbs: ["get"], apiGroups: [""], resources: ["namespaces"] },
      { verbs: ["get"], apiGroups: ["rbac.authorization.platform.io"], resources: ["rolebindings"] },
      { verbs: ["get"], apiGroups: ["*"], resources: ["orders"], resourceNames: ["second"] },
    ];
    await ok(server.admin.post(`${RBAC}/clusterroles`, clusterRole("several", rules)));
    const bind = (space: string) =>
      server.admin.post(
        `${RBAC}/namespaces/${space}/rolebindings`,
        roleBinding("several", refTo("ClusterRole", "several"), [user("ann")]),
      );
    await ok(bind("a"));
    await ok(bind("default"));
    expect(await next(spaces, 2)).toEqual(["ADDED /a", "ADDED /default"]);
    // The binding shows itself.
    expect(await next(bindings, 1)).toEqual(["ADDED a/several"]);
    expect(await next(customs, 1)).toEqual(["ADDED default/second"]);
    await ok(server.admin.patch(`${orders}/first`, { metadata: { labels: { a: "b" } } }));
    await ok(server.admin.patch(`${orders}/second`, { metadata: { labels: { a: "b" } } }));
    expect(await next(customs, 1)).toEqual(["MODIFIED default/second"]);
    for (const space of ["a", "default"])
      await ok(server.admin.delete(`${RBAC}/namespaces/${space}/rolebindings/several`));
    expect(await next(spaces, 2)).toEqual(["DELETED /a", "DELETED /default"]);
    expect(await next(bindings, 1)).toEqual(["DELETED a/several"]);
    expect(await next(customs, 1)).toEqual(["DELETED default/second"]);
    for (const watching of watches) watching.close();
  });

  test("an anonymous user needs the right to watch, and paths with /watch/ have no views", async () => {
    const anonymous = await server.as(undefined).get(`${mine}&watch=true`);
    expect(anonymous.status).toBe(403);
    expect(anonymous.body.message).toContain('User "system:anonymous" cannot watch resource "configmaps"');
    const { status, body } = await server.admin.get("/api/v1/watch/configmaps?view=mine");
    expect([status, body.message]).toEqual([
      400,
      'parameter view: "mine" is supported by list and by list with watch=true, not by paths with /watch/',
    ]);
    expect((await ann.get("/api/v1/watch/configmaps?view=mine")).status).toBe(403);
    expect((await ann.get(`${maps}?view=all&watch=true`)).status).toBe(400);
  });

  test("a member of the privileged group watches everything, without a view", async () => {
    const watching = await server.admin.watch(`${inB}?view=mine&labelSelector=n`);
    expect(await next(watching, 3)).toEqual(["ADDED b/one", "ADDED b/three", "ADDED b/two"]);
    watching.close();
  });
});

test("watches with view=mine of users whose objects can't be enumerated are a BadRequest with the name of the authorizer", async () => {
  const gate = {
    name: "gate",
    authorize: () => ({ verdict: "noOpinion" as const, reason: "", evaluationError: "" }),
  };
  const other = await TestServer.start({
    authorizationModes: ["Node", "RBAC"],
    enabledAdmissionPlugins: ["NodeRestriction"],
    authorizers: [gate],
    users: [{ name: "ann" }, { name: "system:node:n1", groups: ["system:nodes"] }],
  });
  try {
    for (const [name, authorizer] of [
      ["ann", "gate"],
      ["system:node:n1", "Node"],
    ] as const) {
      const { status, body } = await other.as(name).get(`${mine}&watch=true`);
      expect(status).toBe(400);
      expect(body.message).toContain(`parameter view: the authorizer "${authorizer}" can't enumerate`);
    }
    const watching = await other.admin.watch(`/api/v1/namespaces?view=mine`);
    expect(watching.status).toBe(200);
    watching.close();
  } finally {
    await other.close();
  }
});

test("rights that never change: a watch of a view by ABAC, alone and together with RBAC", async () => {
  const folder = temporaryFolder();
  const file = join(folder.path, "policies.jsonl");
  const spec = { user: "ann", namespace: "a", resource: "configmaps", apiGroup: "", readonly: true };
  writeFileSync(
    file,
    JSON.stringify({ apiVersion: "abac.authorization.platform.io/v1beta1", kind: "Policy", spec }),
  );
  for (const authorizationModes of [["ABAC"], ["ABAC", "RBAC"]] as const) {
    const other = await TestServer.start({
      authorizationModes,
      authorizationPolicyFile: file,
      users: [{ name: "ann" }],
    });
    try {
      for (const space of ["a", "b"]) await ok(other.admin.post("/api/v1/namespaces", namespace(space)));
      await ok(other.admin.post(inA, configMap("one", {}, { labels: { n: "one" } })));
      const all = await other.as("ann").watch(`${mine}&labelSelector=n`);
      const whole = await other.as("ann").watch(`${inA}?view=mine&labelSelector=n`);
      for (const watching of [all, whole]) expect(await next(watching, 1)).toEqual(["ADDED a/one"]);
      await ok(other.admin.post(inB, configMap("two", {}, { labels: { n: "two" } })));
      await ok(other.admin.delete(`${inA}/one`));
      for (const watching of [all, whole]) {
        expect(await next(watching, 1)).toEqual(["DELETED a/one"]);
        watching.close();
      }
    } finally {
      await other.close();
    }
  }
  folder.remove();
});

test("the audit event of a watch of a view has the verb watch and the annotation of the view", async () => {
  const audited = await AuditedServer.start("rules: [{level: Metadata}]", {});
  try {
    const answer = await ok(audited.api.admin.get(`${mine}&watch=true&timeoutSeconds=1`));
    const [event] = (await audited.events(answer.headers["audit-id"])).slice(-1);
    expect(event.verb).toBe("watch");
    expect(event.annotations).toMatchObject({ "authorization.platform.io/view": "mine" });
  } finally {
    await audited.close();
  }
});

test("a change of grants arrives within 50 ms in 99 of 100 cases, beside 50 other views", async () => {
  const other = await TestServer.start({ users: [{ name: "ann" }, { name: "bob" }] });
  try {
    await ok(other.admin.post("/api/v1/namespaces", namespace("a")));
    await ok(other.admin.post(inA, configMap("one")));
    await ok(other.admin.post(`${RBAC}/namespaces/a/roles`, role("reader", [readsAll])));
    const bystanders = await Promise.all(Array.from({ length: 50 }, () => other.as("bob").watch(mine)));
    const watching = await other.as("ann").watch(mine);
    const durations: number[] = [];
    const processorTimes: number[] = [];
    for (let i = 0; i < 100; i++) {
      const startedMs = performance.now();
      const usedMs = cpuStopwatch();
      const arrived = watching.next();
      const binding = roleBinding("ann", refTo("Role", "reader"), [user("ann")]);
      if (i % 2 === 0) await ok(other.admin.post(`${RBAC}/namespaces/a/rolebindings`, binding));
      else await ok(other.admin.delete(`${RBAC}/namespaces/a/rolebindings/ann`));
      expect(shown(await arrived)).toBe(i % 2 === 0 ? "ADDED a/one" : "DELETED a/one");
      durations.push(performance.now() - startedMs);
      processorTimes.push(usedMs());
    }
    const sorted = (times: readonly number[]) => times.toSorted((one, two) => one - two);
    // The times include the write. Other programs lengthen some durations at will, but neither the processor time nor most durations.
    expect(sorted(processorTimes)[98]).toBeLessThan(2 * 50);
    expect(sorted(durations)[50]).toBeLessThan(5 * 50);
    for (const bystander of bystanders) bystander.close();
    watching.close();
  } finally {
    await other.close();
  }
});
