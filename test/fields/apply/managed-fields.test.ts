import { describe, expect, test } from "vitest";
import { decodeFieldSet, FieldSet, keyElement, valueElement } from "../../../src/fields/apply/field-set.ts";
import {
  areValidEntries,
  decodeManagedFields,
  encodeManagedFields as encode,
  noManagedFields,
} from "../../../src/fields/apply/managed-fields.ts";
import { managerId, type Manager } from "../../../src/fields/apply/manager.ts";
import { entriesOf } from "../../../src/fields/apply/managed-fields-text.ts";
import type { ManagedFieldsEntryValue as ManagedFieldsEntry } from "../../../src/schema/kind.ts";
import { encodeFieldSet, texts } from "./support.ts";

/** The entries, as clients see them. */
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

describe("the form of a set", () => {
  test.each<[string, object, string[]]>([
    ["nothing", {}, []],
    ["a field", { "f:a": {} }, ["f:a"]],
    ["a field in an object", { "f:a": { "f:b": {} } }, ["f:a f:b"]],
    ["an object and a field in it", { "f:a": { ".": {}, "f:b": {} } }, ["f:a", "f:a f:b"]],
    [
      "an item by its keys",
      { "f:p": { 'k:{"port":80}': { ".": {}, "f:n": {} } } },
      ['f:p k:{"port":80}', 'f:p k:{"port":80} f:n'],
    ],
    ["a value of a set", { "f:t": { 'v:"x"': {} } }, ['f:t v:"x"']],
    ["an item by its index", { "f:l": { "i:0": {} } }, ["f:l i:0"]],
  ])("%s", (_name, fields, paths) => {
    const set = decodeFieldSet(fields);
    expect(texts(set)).toEqual(paths);
    expect(encodeFieldSet(set)).toEqual(fields);
  });

  test("integers that a number can't hold stay what they are", () => {
    const fields = { "f:l": { "v:9007199254740993": {}, 'k:{"id":9007199254740993}': {} } };
    expect(encodeFieldSet(decodeFieldSet(fields))).toEqual(fields);
    expect(valueElement(9007199254740993n)).toBe("v:9007199254740993");
    expect(keyElement({ id: 9007199254740993n })).toBe('k:{"id":9007199254740993}');
  });

  test("the object itself is nobody's", () => {
    expect(encodeFieldSet(decodeFieldSet({ ".": {}, "f:a": {} }))).toEqual({ "f:a": {} });
    expect(decodeFieldSet({ ".": {} }).isEmpty).toBe(true);
  });

  test("keys are the same however they are written", () => {
    const a = decodeFieldSet({ "f:p": { 'k:{"port":80,"protocol":"TCP"}': {} } });
    const b = decodeFieldSet({ "f:p": { 'k:{ "protocol": "TCP", "port": 80 }': {} } });
    expect(a.equals(b)).toBe(true);
  });

  test.each([undefined, null, [], "x", 7, { x: {} }, { "z:a": {} }])("%j is nothing", (fields) => {
    expect(decodeFieldSet(fields).isEmpty).toBe(true);
  });
});

describe("entries", () => {
  test("a new writer's entry has all that tells it from others", () => {
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

  test("what is read is written again", () => {
    expect(encodeManagedFields(before.owners, before, u, now, false)).toEqual(two);
  });

  test.each<[string, Manager, string[], boolean, string]>([
    ["the writer set another field", u, ["f:y", "f:z", "f:w"], true, now],
    ["the writer gave a field its value anew", u, ["f:y", "f:z"], true, now],
    ["the writer removed a field", u, ["f:y"], false, now],
    ["another took a field from it", manager("w"), ["f:y"], true, earlier],
  ])("the time of an entry when %s", (_what, writer, fields, wrote, time) => {
    const owners = new Map(before.owners).set(managerId(u), { version: "v1", set: setOf(...fields) });
    const [first, second] = encodeManagedFields(owners, before, writer, now, wrote);
    expect(first).toEqual(two[0]);
    expect(second).toMatchObject({ manager: "u", time });
  });

  test("applies of one name are one whatever their version, updates are not", () => {
    expect(managerId(manager("a", { operation: "Apply" }))).toBe(
      managerId(manager("a", { operation: "Apply", apiVersion: "v2" })),
    );
    expect(managerId(manager("a"))).not.toBe(managerId(manager("a", { apiVersion: "v2" })));
    expect(managerId(manager("a"))).not.toBe(managerId(manager("a", { subresource: "status" })));
    expect(managerId(manager("a"))).not.toBe(managerId(manager("a", { operation: "Apply" })));
  });

  test("entries that say nothing are forgotten", () => {
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
    const known = decodeManagedFields(entries);
    return encodeManagedFields(known.owners, known, writer, now, false);
  };
  const fieldsOf = (entries: readonly ManagedFieldsEntry[]) =>
    entries.flatMap(({ fieldsV1 }) => Object.keys(fieldsV1!)).toSorted();

  test("beyond ten, the oldest updates of a version become one", () => {
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
    // One that is alone of its version keeps its name, and so do the newer ones.
    const names = after.map((one) => one.manager);
    expect(names).toEqual([
      "m01",
      "ancient-changes",
      ...["05", "06", "07", "08", "09", "10", "11", "12"].map((n) => `m${n}`),
    ]);
    // And once more: what is ancient already takes the next one in.
    const again = written([...after, { ...entries[12]!, manager: "m99" }], manager("w"));
    expect(again).toHaveLength(10);
    expect(again.find((one) => one.manager === "ancient-changes")!.fieldsV1).toHaveProperty("f:a5");
  });

  test("of ten different versions none can be merged, and an apply merges none", () => {
    const apart = updates(12, (i) => `v${i}`);
    expect(written(apart, manager("w"))).toHaveLength(12);
    const alike = updates(12, () => "v1");
    expect(written(alike, manager("w", { operation: "Apply" }))).toHaveLength(12);
  });
});

describe("entries that somebody sent", () => {
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
    ["no fields", fields({})],
    ["every sort of element", fields({ ".": {}, "f:": {}, 'k:{"a":1}': {}, "v:null": {}, "i:-1": {} })],
    ["an element of a sort to come", fields({ "z:whatever": 7 })],
  ])("can be read: %s", (_what, one) => {
    expect(areValidEntries([entry({}), one])).toBe(true);
  });

  test.each<[string, ManagedFieldsEntry]>([
    ["another operation", entry({ operation: "Delete" })],
    ["no operation", entry({ operation: "" })],
    ["no version", entry({ apiVersion: "" })],
    ["another type of fields", entry({ fieldsType: "FieldsV2" })],
    ["no type of fields", entry({ fieldsType: "" })],
    ["fields that are a list", fields([])],
    ["an element without its sort", fields({ a: {} })],
    ["keys that aren't JSON", fields({ "f:l": { "k:{": {} } })],
    ["keys that are no object", fields({ "f:l": { "k:[1]": {} } })],
    ["a value that isn't JSON", fields({ "f:l": { "v:x": {} } })],
    ["an index that is no number", fields({ "f:l": { "i:x": {} } })],
    ["a field that holds no fields", fields({ "f:a": 1 })],
    ["null for a field", fields({ "f:a": null })],
  ])("can't be read: %s", (_what, one) => {
    expect(areValidEntries([entry({}), one])).toBe(false);
  });
});
