import { describe, expect, it } from "vitest";
import { kindsOfRelease } from "../../../src/kinds/kinds-of-release.ts";
import { draftBody, encodeObject, decodeEntry } from "../../../src/resources/objects/stored.ts";
import { isStored, resourceOf, type Resource } from "../../../src/resources/registry/registry.ts";
import { StoredForms } from "../../../src/resources/releases/stored-forms.ts";
import type { ApiObject } from "../../../src/schema/kind.ts";
import type { Field, Fields, StructType, Type } from "../../../src/schema/types.ts";
import { removeUndeclared } from "../../../src/schema/undeclared.ts";
import type { Draft, Entry, Revision } from "../../../src/storage/store.ts";
import { kubernetes } from "../../../src/vocabulary/kubernetes.ts";

const newest = "1.37";
/** Structs with one of several alternatives: a sample has only one. */
const alternatives = new Set(["EnvVarSource", "LifecycleHandler", "Volume", "VolumeProjection"]);

/** Creates values with all fields of their type. */
class Sampler {
  private readonly open = new Set<Type>();

  /** @param own the same type in an earlier release. */
  of(type: Type, own: Type | undefined): unknown {
    switch (type.shape) {
      case "scalar":
        return scalars[type.name] ?? "x";
      case "list":
        return [this.of(type.element, own?.shape === "list" ? own.element : undefined)];
      case "map":
        return { k: this.of(type.value, own?.shape === "map" ? own.value : undefined) };
      case "union":
        return this.of(type.forms.object!.type, own?.shape === "union" ? own.forms.object!.type : undefined);
      case "struct":
        return this.struct(type, own?.shape === "struct" ? own.fields : undefined);
    }
  }

  private struct(type: StructType, own: Fields | undefined): unknown {
    if (this.open.has(type)) return {};
    this.open.add(type);
    const all = Object.entries<Field>(type.fields);
    const result: Record<string, unknown> = {};
    for (const [name, field] of alternatives.has(type.name) ? oneOf(all, own) : all)
      result[name] = this.of(field.type, own?.[name]?.type);
    this.open.delete(type);
    return result;
  }
}

/** The name, and one alternative: that of a later release, if there is one. */
function oneOf(all: readonly (readonly [string, Field])[], own: Fields | undefined) {
  const rest = all.filter(([name]) => name !== "name");
  const later = rest.find(([name]) => own !== undefined && !Object.hasOwn(own, name)) ?? rest[0]!;
  return [...all.filter(([name]) => name === "name"), later];
}

const scalars: Readonly<Record<string, unknown>> = {
  bool: true,
  int32: 1,
  int64: 1,
  double: 1,
  bytes: "YQ==",
  time: "2026-01-01T00:00:00Z",
  microTime: "2026-01-01T00:00:00.000000Z",
  duration: "1s",
  quantity: "1",
  intOrString: 1,
  json: { a: 1 },
  object: { apiVersion: "v1", kind: "X" },
  fieldsV1: {},
};

async function collections(release: "1.26" | "1.35" | "1.37"): Promise<Map<string, Resource>> {
  const resources = (await kindsOfRelease(release)).map((kind) => resourceOf(kind, kubernetes));
  return new Map(resources.filter(isStored).map(({ storePrefix, stored }) => [storePrefix, stored]));
}

function entryOf(key: string, { header, body, revisionAt }: Draft, revision: number): Entry {
  const written = draftBody({ header, body, revisionAt }, String(revision));
  return { key, revision: revision as Revision, header, revisionAt, body: written };
}

const later = await collections(newest);

describe.each(["1.26", "1.35"] as const)("the stored forms under release %s", (release) => {
  it("hide and keep every field of a later release, of every kind", async () => {
    const forms = await StoredForms.create(release, { oldest: release, newest }, kubernetes, kindsOfRelease);
    const differing: string[] = [];
    for (const [prefix, own] of await collections(release)) {
      const resource = later.get(prefix);
      if (resource === undefined) continue;
      const { type } = resource.kind;
      const sample = new Sampler().of(type, own.kind.type) as ApiObject;
      sample.metadata = { name: "n", uid: "u", creationTimestamp: "2026-01-01T00:00:00Z" };
      const key = `${prefix}ns/n`;
      const stored = entryOf(key, encodeObject(resource, sample), 7);
      if (!removeUndeclared(own.kind.type, structuredClone(sample))) continue;
      differing.push(own.kind.name);
      expect(forms.mayDiffer(stored), key).toBe(true);
      const visible = forms.show(stored);
      expect(removeUndeclared(own.kind.type, decodeEntry(visible)), key).toBe(false);
      const changed = decodeEntry(visible);
      delete changed.metadata.resourceVersion;
      changed.metadata.labels = { a: "b" };
      const draft = forms.complete(entryOf(key, encodeObject(own, changed), 7), stored)!;
      const expected = decodeEntry(stored);
      expected.metadata.labels = { a: "b" };
      const after = decodeEntry(entryOf(key, draft, 7));
      // Members that the later release removed, and the earlier one always writes.
      removeUndeclared(type, after);
      expect(withoutNulls(after), key).toEqual(withoutNulls(expected));
    }
    const always =
      release === "1.26" ? ["Pod", "Service", "Job", "Lease", "CSIDriver", "Node"] : ["Pod", "Job"];
    expect(differing).toEqual(expect.arrayContaining(always));
  });
});

/** An object without nulls, which are equal to absent members. */
function withoutNulls(object: ApiObject): unknown {
  return JSON.parse(JSON.stringify(object, (_, value: unknown) => (value === null ? undefined : value)));
}
