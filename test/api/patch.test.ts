import { describe, expect, test } from "vitest";
import { useServer } from "../support/use-server.ts";
import { RBAC, clusterRole, configMap, ok, podReader } from "./support.ts";

const path = "/api/v1/namespaces/default/configmaps";

const server = useServer();

const fresh = async (name: string) => {
  await ok(server.admin.post(path, configMap(name, { a: "1", b: "2" }, { labels: { x: "y" } })));
  return `${path}/${name}`;
};

describe("patches", () => {
  test("C-4.7-09 C-4.2-07 merge patch: null removes a member, objects are merged, other values are replaced", async () => {
    const at = await fresh("merge");
    const { status, body } = await server.admin.patch(at, {
      data: { a: null, c: "3" },
      metadata: { labels: { z: "w" } },
    });
    expect([status, body.data, body.metadata.labels]).toEqual([200, { b: "2", c: "3" }, { x: "y", z: "w" }]);
    expect((await server.admin.get(at)).body).toEqual(body);
  });

  test("C-4.7-10 JSON patch: all six operations", async () => {
    const at = await fresh("json");
    const operations = [
      { op: "test", path: "/data/a", value: "1" },
      { op: "add", path: "/data/c", value: "3" },
      { op: "replace", path: "/data/a", value: "one" },
      { op: "copy", from: "/data/b", path: "/data/d" },
      { op: "move", from: "/data/b", path: "/data/e" },
      { op: "remove", path: "/data/c" },
    ];
    const { status, body } = await server.admin.patch(at, operations, "json");
    expect([status, body.data]).toEqual([200, { a: "one", d: "2", e: "2" }]);
  });

  test("C-4.7-11 strategic merge patch: lists are merged by key, and directives apply", async () => {
    const accounts = "/api/v1/namespaces/default/serviceaccounts";
    await ok(
      server.admin.post(accounts, { metadata: { name: "sa" }, secrets: [{ name: "one" }, { name: "two" }] }),
    );
    const patch = { secrets: [{ name: "three" }, { name: "one", $patch: "delete" }] };
    const { status, body } = await server.admin.patch(`${accounts}/sa`, patch, "strategic");
    expect(status).toBe(200);
    expect(body.secrets.map((one: { name: string }) => one.name).toSorted()).toEqual(["three", "two"]);
  });

  test("lists of a role are replaced by merge and strategic merge patches", async () => {
    const at = `${RBAC}/clusterroles/patched`;
    await ok(
      server.admin.post(
        `${RBAC}/clusterroles`,
        clusterRole("patched", [podReader, { ...podReader, verbs: ["list"] }]),
      ),
    );
    for (const kind of ["merge", "strategic"] as const) {
      const { body } = await ok(server.admin.patch(at, { rules: [{ ...podReader, verbs: [kind] }] }, kind));
      expect(body.rules).toEqual([{ ...podReader, verbs: [kind] }]);
    }
  });

  test.each([
    ["json", {}, 400, "BadRequest"],
    ["json", [{ op: "leap", path: "/data" }], 400, "BadRequest"],
    ["json", [{ op: "add", path: "data" }], 400, "BadRequest"],
    ["json", [{ op: "test", path: "/data/a", value: "other" }], 422, "Invalid"],
    ["json", [{ op: "remove", path: "/data/none" }], 422, "Invalid"],
    ["json", [{ op: "replace", path: "/kind", value: "Secret" }], 422, "Invalid"],
    ["json", [{ op: "remove", path: "" }], 0, ""],
    ["merge", [], 400, "BadRequest"],
    ["merge", { metadata: { name: "other" } }, 400, "BadRequest"],
    ["merge", { metadata: null }, 400, "BadRequest"],
    ["merge", { metadata: { namespace: "other" } }, 400, "BadRequest"],
    ["merge", { metadata: { uid: "other" } }, 422, "Invalid"],
    ["merge", { metadata: { resourceVersion: "1" } }, 409, "Conflict"],
    ["merge", { data: { "bad key!": "x" } }, 422, "Invalid"],
    ["merge", { data: 5 }, 422, "Invalid"],
    ["merge", { metadata: { labels: ["x"] } }, 422, "Invalid"],
    ["json", [{ op: "add", path: "/data", value: 5 }], 422, "Invalid"],
    ["json", [{ op: "replace", path: "/none/a", value: "x" }], 422, "Invalid"],
    ["strategic", { data: 5 }, 422, "Invalid"],
    ["strategic", { metadata: { finalizers: ["no slash and Bad Form!"] } }, 422, "Invalid"],
    ["strategic", [], 400, "BadRequest"],
  ] as const)("%s %j is refused with %d", async (kind, patch, status, reason) => {
    await server.admin.post(path, configMap("steady", { a: "1" }));
    const before = (await server.admin.get(`${path}/steady`)).text;
    const answer = await server.admin.patch(`${path}/steady`, patch, kind);
    if (status === 0) expect([400, 422]).toContain(answer.status);
    else expect([answer.status, answer.body.reason], answer.text).toEqual([status, reason]);
    expect((await server.admin.get(`${path}/steady`)).text).toBe(before);
  });

  test.each(["application/json", "application/yaml", "text/plain", "application/apply-patch+json", ""])(
    "the media type %j of a patch is refused with 415",
    async (contentType) => {
      const { status, body } = await server.admin.ask("PATCH", `${path}/steady`, { raw: "{}", contentType });
      expect([status, body.reason]).toEqual([415, "UnsupportedMediaType"]);
    },
  );

  test("parameters of the patch media type are ignored", async () => {
    const answer = await server.admin.ask("PATCH", `${path}/steady`, {
      raw: "{}",
      contentType: "application/merge-patch+json; charset=utf-8",
    });
    expect(answer.status).toBe(200);
  });

  test("concurrent patches of different fields are all applied", async () => {
    const at = await fresh("busy");
    const keys = Array.from({ length: 8 }, (_, i) => `k${i}`);
    const answers = await Promise.all(keys.map((key) => server.admin.patch(at, { data: { [key]: "set" } })));
    expect(answers.map(({ status }) => status)).toEqual(keys.map(() => 200));
    expect(Object.keys((await server.admin.get(at)).body.data)).toEqual(["a", "b", ...keys]);
  });
});
