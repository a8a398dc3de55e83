import { describe, expect, it } from "vitest";
import { entriesOf } from "../../../src/fields/apply/new-fields-text.ts";
import { ConfigMap } from "../../../src/kinds/core/config-map.ts";
import { resourceOf } from "../../../src/resources/registry/registry.ts";
import {
  decodeBody,
  decodeLive,
  encodeObject,
  headerOf,
  metadataOf,
} from "../../../src/resources/objects/stored.ts";
import type { ApiObject, ManagedFieldsEntryValue } from "../../../src/schema/kind.ts";
import { entryFromDraft, revisionOf } from "../../../src/storage/entry.ts";
import type { Draft } from "../../../src/storage/store.ts";
import { platform } from "../../../src/vocabulary/platform.ts";

const resource = resourceOf(ConfigMap, platform);
const entry = (name: string, more: Partial<ManagedFieldsEntryValue> = {}): ManagedFieldsEntryValue => ({
  manager: name,
  operation: "Update",
  apiVersion: "v1",
  time: "2026-01-01T00:00:00Z",
  fieldsType: "FieldsV1",
  fieldsV1: { "f:data": { "f:a": {}, "f:größe": {} } },
  ...more,
});
const objectWith = (managedFields?: ManagedFieldsEntryValue[]): ApiObject => ({
  kind: "ConfigMap",
  apiVersion: "v1",
  metadata: {
    name: "it",
    namespace: "x",
    uid: "u",
    labels: { app: "b" },
    annotations: { note: 'größer, "managedFields":[ und €' },
    ...(managedFields === undefined ? {} : { managedFields }),
  },
  data: { a: "1", größe: "ü" },
});
const stored = (draft: Draft) => entryFromDraft("/core/configmaps/x/it", revisionOf(12_345), draft);

const { time: _time, ...timeless } = entry("c");

describe("an object as it is stored", () => {
  const entries = [entry("an 'ö' manager", { operation: "Apply" }), entry("b", { subresource: "status" })];

  it("is the object with its revision, and its managed fields last in its metadata", () => {
    const { body } = stored(encodeObject(resource, objectWith(entries)));
    const object = decodeBody(body);
    const { metadata } = objectWith(entries);
    expect(object).toEqual({ ...objectWith(), metadata: { ...metadata, resourceVersion: "12345" } });
    expect(Object.keys(object.metadata)[0]).toBe("resourceVersion");
    expect(Object.keys(object.metadata).at(-1)).toBe("managedFields");
  });

  it.each([
    ["several entries", entries],
    ["one without a time", [timeless]],
    ["none", undefined],
  ])("is read without its managed fields: %s", (_what, managedFields) => {
    const entry = stored(encodeObject(resource, objectWith(managedFields)));
    const { object, managed } = decodeLive(entry);
    const { metadata } = objectWith();
    expect(metadataOf(entry)).toEqual({ ...metadata, resourceVersion: "12345" });
    expect(object).toEqual({ ...objectWith(), metadata: { ...metadata, resourceVersion: "12345" } });
    expect(managed.stored === undefined ? undefined : entriesOf(managed.stored)).toEqual(managedFields);
    expect(managed.entries.size).toBe(managedFields?.length ?? 0);
    for (const { set } of managed.owners.values()) {
      expect([...set.paths()]).toEqual([
        ["f:data", "f:a"],
        ["f:data", "f:größe"],
      ]);
    }
  });

  it("is encoded to the same bytes after it was decoded", () => {
    const draft = encodeObject(resource, objectWith(entries));
    const { object, managed } = decodeLive(stored(draft));
    expect(encodeObject(resource, object, managed.stored)).toEqual(draft);
  });

  it("is decoded when its header has no position of the managed fields", () => {
    const draft = encodeObject(resource, objectWith(entries));
    const { uid, labels, fields } = headerOf(stored(draft));
    const header = Buffer.from(JSON.stringify([uid, labels, fields]));
    const { object, managed } = decodeLive(stored({ ...draft, header }));
    expect(object.metadata.managedFields).toBeUndefined();
    expect(entriesOf(managed.stored!)).toEqual(entries);
  });
});
