import { describe, expect, test } from "vitest";
import { decodeFieldSet, FieldSet, keyElement, valueElement } from "../../../src/fields/apply/field-set.ts";
import {
  areValidEntries,
  decodeManagedFields,
  encodeManagedFields as encode,
  noManagedFields,
  entriesOf,
} from "../../../src/fields/apply/new-fields-text.ts";
import { managerId, type Manager } from "../../../src/fields/apply/manager.ts";
import type { ManagedFieldsEntryValue as ManagedFieldsEntry } from "../../../src/schema/kind.ts";
import { textOfFields } from "../../../src/fields/apply/fields-text.ts";
import { readSet } from "../../../src/fields/apply/read-set.ts";
import { deducedShape } from "../../../src/fields/apply/shape.ts";
import { encodeFieldSet, texts, thingShape } from "./support.ts";

/** Returns the entries as in `metadata.managedFields`. */
const encodeManagedFields = (...args: Parameters<typeof encode>) => entriesOf(encode(...args));

const now = "2026-01-02T03:04:05Z";
const earlier = "2026-01-01T00:00:00Z";
const manager = (name: string, more: Partial<Manager> = {}): Manager => ({
  name,
  operation: "Update",
  apiVersion: "v1",
  subresource: "",
  ...more,
});
const setOf = (...names: string[]) =>
  names.reduce(
    (set, name) => set.union(FieldSet.of(false, new Map([[name, FieldSet.leaf]]))),
    FieldSet.empty,
  );

describe.each([
  ["declared", thingShape, { image: null, option: { level: null }, replicas: 1 }, "f:option f:level"],
  ["undeclared", deducedShape, { image: null, option: { level: null }, replicas: 1 }, "f:option f:level"],
] as const)("null members of a %s object", (_, shape, object, nested) => {
  test("are fields of an applied configuration", () => {
    const set = readSet(object, shape, "strict");
    expect(texts(set)).toEqual(expect.arrayContaining(["f:image", nested, "f:replicas"]));
    expect(textOfFields(object, shape, FieldSet.empty, "strict")).toContain('"f:image":{}');
  });

  test("are absent in a live object", () => {
    const set = readSet(object, shape, "lenient");
    expect(texts(set)).toEqual(["f:option", "f:replicas"]);
    expect(textOfFields(object, shape, FieldSet.empty)).not.toContain("f:image");
  });
});

describe("fieldsV1", () => {
  test.each<[string, object, string[]]>([
    ["an empty set", {}, []],
    ["a field", { "f:a": {} }, ["f:a"]],
    ["a field in an object", { "f:a": { "f:b": {} } }, ["f:a f:b"]],
    ["an object and a field in it", { "f:a": { ".": {}, "f:b": {} } }, ["f:a", "f:a f:b"]],
    [
      "a list item identified by its keys",
      { "f:p": { 'k:{"port":80}': { ".": {}, "f:n": {} } } },
      ['f:p k:{"port":80}', 'f:p k:{"port":80} f:n'],
    ],
    ["an item of a set, identified by its value", { "f:t": { 'v:"x"': {} } }, ['f:t v:"x"']],
    ["a list item identified by its index", { "f:l": { "i:0": {} } }, ["f:l i:0"]],
  ])("is decoded and encoded without loss: %s", (_name, fields, paths) => {
    const set = decodeFieldSet(fields);
    expect(texts(set)).toEqual(paths);
    expect(encodeFieldSet(set)).toEqual(fields);
  });

  test("keeps integers above 2^53 exact in keys and values", () => {
    const fields = { "f:l": { "v:9007199254740993": {}, 'k:{"id":9007199254740993}': {} } };
    expect(encodeFieldSet(decodeFieldSet(fields))).toEqual(fields);
    expect(valueElement(9007199254740993n)).toBe("v:9007199254740993");
    expect(keyElement({ id: 9007199254740993n })).toBe('k:{"id":9007199254740993}');
  });

  test("ignores the path of the object itself", () => {
    expect(encodeFieldSet(decodeFieldSet({ ".": {}, "f:a": {} }))).toEqual({ "f:a": {} });
    expect(decodeFieldSet({ ".": {} }).isEmpty).toBe(true);
  });

  test("treats keys in another order or with spaces as equal", () => {
    const a = decodeFieldSet({ "f:p": { 'k:{"port":80,"protocol":"TCP"}': {} } });
    const b = decodeFieldSet({ "f:p": { 'k:{ "protocol": "TCP", "port": 80 }': {} } });
    expect(a.equals(b)).toBe(true);
  });

  test.each([undefined, null, [], "x", 7, { x: {} }, { "z:a": {} }])(
    "is decoded as an empty set if it is %j",
    (fields) => {
      expect(decodeFieldSet(fields).isEmpty).toBe(true);
    },
  );
});

describe("managedFields entries", () => {
  test("the entry of a new manager has its name, operation, version and subresource", () => {
    const writer = manager("tool", { operation: "Apply", subresource: "status" });
    const owners = new Map([[managerId(writer), { version: "apps/v1", set: setOf("f:a") }]]);
    expect(
      encodeManagedFields(owners, noManagedFields, { ...writer, apiVersion: "apps/v1" }, now, true),
    ).toEqual([
      {
        manager: "tool",
        operation: "Apply",
        apiVersion: "apps/v1",
        time: now,
        fieldsType: "FieldsV1",
        fieldsV1: { "f:a": {} },
        subresource: "status",
      },
    ]);
  });

  const two: ManagedFieldsEntry[] = [
    {
      manager: "a",
      operation: "Apply",
      apiVersion: "v1",
      time: earlier,
      fieldsType: "FieldsV1",
      fieldsV1: { "f:x": {} },
    },
    {
      manager: "u",
      operation: "Update",
      apiVersion: "v1",
      time: earlier,
      fieldsType: "FieldsV1",
      fieldsV1: { "f:y": {}, "f:z": {} },
    },
  ];
  const before = decodeManagedFields(two);
  const u = manager("u");

  test("are encoded as they were decoded if nothing changes", () => {
    expect(encodeManagedFields(before.owners, before, u, now, false)).toEqual(two);
  });

  test.each<[string, Manager, string[], boolean, string]>([
    ["is the time of the write when the manager sets another field", u, ["f:y", "f:z", "f:w"], true, now],
    ["is the time of the write when the manager sets a field that it owns", u, ["f:y", "f:z"], true, now],
    ["is the time of the write when the manager removes a field", u, ["f:y"], false, now],
    ["is unchanged when another manager takes over a field", manager("w"), ["f:y"], true, earlier],
  ])("the time %s", (_what, writer, fields, wrote, time) => {
    const owners = new Map(before.owners).set(managerId(u), { version: "v1", set: setOf(...fields) });
    const [first, second] = encodeManagedFields(owners, before, writer, now, wrote);
    expect(first).toEqual(two[0]);
    expect(second).toMatchObject({ manager: "u", time });
  });

  test("applies with one name are one manager in all versions; updates in different versions are different managers", () => {
    expect(managerId(manager("a", { operation: "Apply" }))).toBe(
      managerId(manager("a", { operation: "Apply", apiVersion: "v2" })),
    );
    expect(managerId(manager("a"))).not.toBe(managerId(manager("a", { apiVersion: "v2" })));
    expect(managerId(manager("a"))).not.toBe(managerId(manager("a", { subresource: "status" })));
    expect(managerId(manager("a"))).not.toBe(managerId(manager("a", { operation: "Apply" })));
  });

  test("entries without fields or operation are dropped", () => {
    const { owners } = decodeManagedFields([
      { manager: "a", operation: "Update", apiVersion: "v1", fieldsV1: {} },
      { manager: "b", apiVersion: "v1", fieldsV1: { "f:x": {} } },
      {},
    ]);
    expect(owners.size).toBe(0);
    expect(decodeManagedFields(null).owners.size).toBe(0);
  });

  const updates = (count: number, versionOf: (index: number) => string): ManagedFieldsEntry[] =>
    Array.from({ length: count }, (_, i): ManagedFieldsEntry => ({
      manager: `m${String(i).padStart(2, "0")}`,
      operation: "Update",
      apiVersion: versionOf(i),
      time: `2026-01-01T00:00:${String(i).padStart(2, "0")}Z`,
      fieldsType: "FieldsV1",
      fieldsV1: { [`f:a${i}`]: {} },
      subresource: "status",
    }));
  const written = (entries: readonly ManagedFieldsEntry[], writer: Manager) => {
    const current = decodeManagedFields(entries);
    return encodeManagedFields(current.owners, current, writer, now, false);
  };
  const fieldsOf = (entries: readonly ManagedFieldsEntry[]) =>
    entries.flatMap(({ fieldsV1 }) => Object.keys(fieldsV1!)).toSorted();

  test("above ten updates, the oldest ones of a version are merged", () => {
    const entries = updates(13, (i) => (i === 1 ? "v2" : "v1"));
    const after = written(entries, manager("w"));
    expect(after).toHaveLength(10);
    expect(fieldsOf(after)).toEqual(fieldsOf(entries));
    const ancient = after.filter((one) => one.manager === "ancient-changes");
    expect(ancient).toEqual([
      {
        manager: "ancient-changes",
        operation: "Update",
        apiVersion: "v1",
        time: "2026-01-01T00:00:04Z",
        fieldsType: "FieldsV1",
        fieldsV1: { "f:a0": {}, "f:a2": {}, "f:a3": {}, "f:a4": {} },
      },
    ]);
    // An old entry that is the only one of its version isn't merged.
    const names = after.map((one) => one.manager);
    expect(names).toEqual([
      "m01",
      "ancient-changes",
      ...["05", "06", "07", "08", "09", "10", "11", "12"].map((n) => `m${n}`),
    ]);
    // The next merge adds to the existing merged entry.
    const again = written([...after, { ...entries[12]!, manager: "m99" }], manager("w"));
    expect(again).toHaveLength(10);
    expect(again.find((one) => one.manager === "ancient-changes")!.fieldsV1).toHaveProperty("f:a5");
  });

  test("updates of different versions are not merged, and an apply merges none", () => {
    const apart = updates(12, (i) => `v${i}`);
    expect(written(apart, manager("w"))).toHaveLength(12);
    const alike = updates(12, () => "v1");
    expect(written(alike, manager("w", { operation: "Apply" }))).toHaveLength(12);
  });
});

describe("managedFields of a request", () => {
  const entry = (more: ManagedFieldsEntry): ManagedFieldsEntry => ({
    manager: "m",
    operation: "Update",
    apiVersion: "v1",
    fieldsType: "FieldsV1",
    fieldsV1: { "f:a": {} },
    ...more,
  });
  const fields = (fieldsV1: unknown) => entry({ fieldsV1: fieldsV1 as Record<string, unknown> });

  test.each<[string, ManagedFieldsEntry]>([
    ["without fields", fields({})],
    [
      "with each type of path element",
      fields({ ".": {}, "f:": {}, 'k:{"a":1}': {}, "v:null": {}, "i:-1": {} }),
    ],
    ["with an unknown type of path element", fields({ "z:whatever": 7 })],
  ])("is valid %s", (_what, one) => {
    expect(areValidEntries([entry({}), one])).toBe(true);
  });

  test.each<[string, ManagedFieldsEntry]>([
    ["with an unknown operation", entry({ operation: "Delete" })],
    ["without operation", entry({ operation: "" })],
    ["without version", entry({ apiVersion: "" })],
    ["with an unknown fieldsType", entry({ fieldsType: "FieldsV2" })],
    ["without fieldsType", entry({ fieldsType: "" })],
    ["with a list as fieldsV1", fields([])],
    ["with a path element without type", fields({ a: {} })],
    ["with keys that aren't JSON", fields({ "f:l": { "k:{": {} } })],
    ["with keys that aren't an object", fields({ "f:l": { "k:[1]": {} } })],
    ["with a value that isn't JSON", fields({ "f:l": { "v:x": {} } })],
    ["with an index that isn't a number", fields({ "f:l": { "i:x": {} } })],
    ["with a number instead of child fields", fields({ "f:a": 1 })],
    ["with null instead of child fields", fields({ "f:a": null })],
  ])("is invalid %s", (_what, one) => {
    expect(areValidEntries([entry({}), one])).toBe(false);
  });
});
