import { describe, expect, test } from "vitest";
import { decodeFieldSet, encodeFieldSet, FieldSet } from "../../../src/fields/apply/field-set.ts";
import {
  decodeManagedFields,
  encodeManagedFields,
  managerId,
  noManagedFields,
  type Manager,
} from "../../../src/fields/apply/managed-fields.ts";
import type { ManagedFieldsEntryValue as ManagedFieldsEntry } from "../../../src/schema/kind.ts";
import { texts } from "./support.ts";

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
    expect(encodeManagedFields(owners, noManagedFields, { ...writer, apiVersion: "apps/v1" }, now)).toEqual([
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

  test("what is read is written again; only what changed has a new time", () => {
    const entries: ManagedFieldsEntry[] = [
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
        fieldsV1: { "f:y": {} },
      },
    ];
    const before = decodeManagedFields(entries);
    expect(encodeManagedFields(before.owners, before, manager("w"), now)).toEqual(entries);
    const changed = new Map(before.owners).set(managerId(manager("u")), {
      version: "v1",
      set: setOf("f:y", "f:z"),
    });
    expect(encodeManagedFields(changed, before, manager("w"), now)).toEqual([
      entries[0],
      { ...entries[1], time: now, fieldsV1: { "f:y": {}, "f:z": {} } },
    ]);
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

  test("beyond ten, the oldest updates of a version become one", () => {
    const entries = Array.from({ length: 15 }, (_, i): ManagedFieldsEntry => ({
      manager: `m${String(i).padStart(2, "0")}`,
      operation: "Update",
      apiVersion: i % 3 === 0 ? "v2" : "v1",
      time: `2026-01-01T00:00:${String(i).padStart(2, "0")}Z`,
      fieldsType: "FieldsV1",
      fieldsV1: { [`f:a${i}`]: {} },
    }));
    const before = decodeManagedFields(entries);
    const after = encodeManagedFields(before.owners, before, manager("w"), now);
    expect(after.length).toBeLessThanOrEqual(10);
    const ancient = after.filter((one) => one.manager === "ancient-changes");
    expect(ancient.map(({ apiVersion }) => apiVersion).toSorted()).toEqual(["v1", "v2"]);
    const fields = after.flatMap(({ fieldsV1 }) => Object.keys(fieldsV1!)).toSorted();
    expect(fields).toEqual(entries.flatMap(({ fieldsV1 }) => Object.keys(fieldsV1!)).toSorted());
    expect(after.some(({ manager: name }) => name === "m14")).toBe(true);
  });
});
