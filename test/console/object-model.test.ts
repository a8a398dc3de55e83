import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { changesBetween } from "../../console/src/model/diff.ts";
import { editable, editOf, joined } from "../../console/src/model/edit.ts";
import { ownedFields, partsOf } from "../../console/src/model/managed-fields.ts";
import { deletedWith, byOwner } from "../../console/src/model/owned-objects.ts";
import { isEqual, pathText } from "../../console/src/model/paths.ts";
import { typesOf } from "../../console/src/model/resource-types.ts";
import { verbCell } from "../../console/src/model/verb-marks.ts";
import { whyCommand } from "../../console/src/model/why-command.ts";
import { TestServer } from "../support/api.ts";
import { configMap, ok } from "../api/support.ts";

const objects = fc.dictionary(
  fc.constantFrom("a", "b", "c", "name"),
  fc.oneof(
    fc.integer({ min: 0, max: 2 }),
    fc.constantFrom("x", "y"),
    fc.dictionary(fc.constantFrom("a", "b"), fc.integer({ min: 0, max: 2 })),
  ),
  { noNullPrototype: true },
);

/** A merge patch (RFC 7386), as the server applies it. */
function patched(target: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> =
    typeof target === "object" && target !== null && !Array.isArray(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = patched(result[key], value);
  }
  return result;
}

describe("an edit", () => {
  it("gives the edited object when its changes and removals are applied to the original", () => {
    fc.assert(
      fc.property(objects, objects, (original, edited) => {
        const { changed, removed } = editOf(original, edited);
        const after = patched(joined(original, changed), removed ?? {});
        // A removed object and its new value of another type can't both be in one merge patch.
        expect(isEqual(patched(after, {}), edited)).toBe(true);
      }),
    );
  });

  it("has no changes for equal objects, and changed fields only", () => {
    const original = { spec: { replicas: 1, paused: true }, list: [{ name: "a" }] };
    expect(editOf(original, structuredClone(original))).toEqual({ changed: {}, removed: undefined });
    expect(editOf(original, { ...original, spec: { replicas: 2, paused: true } }).changed).toEqual({
      spec: { replicas: 2 },
    });
  });

  it("removes fields and items of lists with a merge patch", () => {
    const original = { spec: { paused: true }, list: [{ name: "a" }, { name: "b" }] };
    expect(editOf(original, { spec: {}, list: [{ name: "a" }] }).removed).toEqual({
      spec: { paused: null },
      list: [{ name: "a" }],
    });
    expect(
      editOf(original, { ...original, list: [{ name: "a" }, { name: "b", c: 1 }] }).removed,
    ).toBeUndefined();
  });

  it("removes and adds fields with the names of members that every object inherits", () => {
    const [without, withField] = [{ data: {} }, { data: { constructor: "a", toString: "b" } }];
    expect(editOf(withField, without).removed).toEqual({ data: { constructor: null, toString: null } });
    expect(changesBetween(without, withField)).toEqual([
      { path: "data.constructor", before: undefined, after: "a" },
      { path: "data.toString", before: undefined, after: "b" },
    ]);
  });

  it("doesn't contain what the server sets", () => {
    const metadata = { name: "a", uid: "u", resourceVersion: "1", managedFields: [], labels: { a: "b" } };
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { a: "1" }, status: {} };
    expect(editable(object)).toEqual({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a", labels: { a: "b" } },
      data: { a: "1" },
    });
  });
});

describe("the changes between two versions", () => {
  it("are none exactly if they are equal", () => {
    fc.assert(
      fc.property(objects, objects, (one, other) => {
        expect(changesBetween(one, other).length === 0).toBe(isEqual(one, other));
      }),
    );
  });

  it("name fields, and items of lists by their names", () => {
    const before = {
      metadata: { resourceVersion: "1" },
      spec: { containers: [{ name: "a", image: "x" }, { name: "b" }] },
    };
    const after = {
      metadata: { resourceVersion: "2" },
      spec: { containers: [{ name: "b" }, { name: "a", image: "y" }], n: 1 },
    };
    expect(changesBetween(before, after)).toEqual([
      { path: 'spec.containers[name="a"].image', before: "x", after: "y" },
      { path: "spec.n", before: undefined, after: 1 },
    ]);
  });
});

describe("the owners of fields", () => {
  const set = {
    "f:metadata": { "f:labels": { ".": {}, "f:app": {} } },
    "f:spec": {
      "f:containers": { 'k:{"name":"web"}': { ".": {}, "f:image": {} } },
      "f:tags": { 'v:"a"': {} },
    },
  };
  const object = {
    metadata: { labels: { app: "web" } },
    spec: { containers: [{ name: "web", image: "i" }], tags: ["a", "b"], other: 1 },
  };

  it("are listed by readable paths, with values and times", () => {
    const entry = { manager: "ci", operation: "Apply", time: "2026-01-01T00:00:00Z", fieldsV1: set };
    const owners = [{ manager: "ci", operation: "Apply", subresource: "", time: "2026-01-01T00:00:00Z" }];
    expect(ownedFields(object, [entry])).toEqual([
      { path: "metadata.labels.app", value: "web", owners },
      { path: 'spec.containers[name="web"].image', value: "i", owners },
      { path: 'spec.tags["a"]', value: "a", owners },
    ]);
  });

  it("give the parts of the object, with whole lists", () => {
    expect(partsOf(object, set)).toEqual({
      metadata: { labels: { app: "web" } },
      spec: { containers: [{ name: "web", image: "i" }], tags: ["a", "b"] },
    });
  });

  it("of an object of the server are read", async () => {
    const server = await TestServer.start();
    try {
      const path = "/api/v1/namespaces/default/configmaps";
      const { body } = await ok(server.admin.post(`${path}?fieldManager=me`, configMap("a", { "k.x": "1" })));
      const fields = ownedFields(body as object, body.metadata.managedFields);
      expect(fields.map(({ path: one, value, owners }) => [one, value, owners[0]?.manager])).toEqual([
        ['data["k.x"]', "1", "me"],
      ]);
    } finally {
      await server.close();
    }
  });
});

it("a path has dots, and brackets for other names and items", () => {
  expect(pathText(["a", "b.c", '[name="x"]', "d"])).toBe('a["b.c"][name="x"].d');
});

it("with an object go those at any depth whose owners all go", () => {
  const type = typesOf([
    { groupVersion: "v1", resources: [{ name: "pods", kind: "Pod", namespaced: true, verbs: ["list"] }] },
  ])[0]!;
  const object = (uid: string, ...owners: readonly string[]) => ({
    type,
    namespace: "",
    name: uid,
    uid,
    owners,
  });
  const objects = [
    object("child", "root"),
    object("grandchild", "child"),
    object("shared", "root", "other"),
    object("of-both", "root", "child"),
    object("of-shared", "shared"),
    object("of-cycle", "of-cycle", "child"),
    object("unrelated", "other"),
  ];
  const names = (uid: string) =>
    deletedWith(uid, byOwner(objects))
      .map(({ name }) => name)
      .toSorted();
  expect(names("root")).toEqual(["child", "grandchild", "of-both"]);
  expect(names("nothing")).toEqual([]);
});

it("the command for an administrator quotes names that come from a link", () => {
  const action = { verb: "delete", group: "apps", resource: "deployments" };
  expect(whyCommand("system:serviceaccount:a:b", { ...action, namespace: "team", name: "web" })).toBe(
    "plinth auth why system:serviceaccount:a:b delete deployments.apps web --namespace=team",
  );
  expect(whyCommand("ann", { ...action, subresource: "scale", name: "$(id)'; ls" })).toBe(
    String.raw`plinth auth why ann delete deployments.apps/scale '$(id)'\''; ls' -A`,
  );
});

it("the verbs of a cell are marks and words, also those for some names only", () => {
  const allowed = { allowed: true };
  const refused = { allowed: false };
  const named = (...names: string[]) => ({ allowed: false, names });
  expect(
    verbCell([allowed, refused, refused, refused, named("a", "b"), named("a"), refused, allowed]),
  ).toEqual({
    text: "g---u°p°-D",
    label: "get, update of 2 names, patch of a, deletecollection",
    isPartial: true,
  });
  expect(verbCell([])).toEqual({ text: "–", label: "nothing", isPartial: false });
});
