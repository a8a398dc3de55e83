import { builtInKinds } from "../../src/kinds/all.ts";
import { resolveString } from "../../src/schema/check.ts";
import { groupName, type Kind } from "../../src/schema/kind.ts";
import type { Field, StructType, Type } from "../../src/schema/types.ts";
import { platform } from "../../src/vocabulary/platform.ts";

/** A list or map in the objects of a kind, that a client fills. */
export interface Collection {
  readonly kind: Kind;
  /** Names of the fields from the object to the collection; `[]` and `{}` are an entry of a list and a map on the way. */
  readonly path: readonly string[];
  readonly type: Type & { readonly shape: "list" | "map" };
}

type Json = Record<string, unknown>;

/** Depth of optional structs in an entry. */
const maxDepth = 6;

/**
 * Returns the lists and maps of all kinds that can be created. A field of a struct that several kinds have is returned once,
 * for the first kind.
 */
export function builtInCollections(): Collection[] {
  const fields = new Set<Field>();
  const collections: Collection[] = [];
  for (const kind of builtInKinds) {
    if (!kind.verbs.includes("create")) continue;
    const visit = (struct: StructType, path: readonly string[]): void => {
      for (const [name, field] of Object.entries(struct.fields)) {
        if (fields.has(field) || path.length > 12) continue;
        fields.add(field);
        descend(field.type, [...path, name]);
      }
    };
    const descend = (type: Type, path: readonly string[]): void => {
      if (type.shape === "struct") return visit(type, path);
      if (type.shape !== "list" && type.shape !== "map") return;
      collections.push({ kind, path, type });
      if (type.shape === "list") descend(type.element, [...path, "[]"]);
      else descend(type.value, [...path, "{}"]);
    };
    visit(kind.type, []);
  }
  return collections;
}

/** The name of a collection in messages, such as `Pod spec.containers[].env`. */
export function nameOf({ kind, path }: Collection): string {
  return `${kind.name} ${path.join(".").replaceAll(".[]", "[]").replaceAll(".{}", "{}")}`;
}

/** The apiVersion of a kind. */
export function apiVersionOf({ group, version }: Kind): string {
  const name = groupName(group, platform);
  return name === "" ? version : `${name}/${version}`;
}

/** Returns an object whose collection has `count` entries, each different from the others. */
export function objectWith({ kind, path, type }: Collection, count: number): Json {
  const object: Json = { apiVersion: apiVersionOf(kind), kind: kind.name, ...sampleStruct(kind.type, 0, 0) };
  object["metadata"] = { ...(object["metadata"] as Json), name: "sample" };
  let struct: Type = kind.type;
  let at: Json = object;
  const last = path.at(-1)!;
  for (const name of path.slice(0, -1)) {
    if (name === "[]") {
      struct = (struct as { element: Type }).element;
      continue;
    }
    if (name === "{}") {
      struct = (struct as { value: Type }).value;
      continue;
    }
    struct = (struct as StructType).fields[name]!.type;
    at = stepInto(at, name, struct);
  }
  at[last] = entriesOf(type, count);
  return object;
}

/** The value of a member, or of its first entry, which is created if it is missing. */
function stepInto(at: Json, name: string, type: Type): Json {
  if (type.shape === "list") {
    const list = (at[name] ??= []) as unknown[];
    if (list.length === 0) list.push(sampleOf(type.element, 0, 1));
    return list[0] as Json;
  }
  if (type.shape === "map") {
    const map = (at[name] ??= {}) as Json;
    return (map["k0"] ??= sampleOf(type.value, 0, 1)) as Json;
  }
  return (at[name] ??= sampleOf(type, 0, 1)) as Json;
}

function entriesOf(type: Collection["type"], count: number): unknown {
  const indices = Array.from({ length: count }, (_, index) => index);
  if (type.shape === "list") return indices.map((index) => sampleOf(type.element, index, 1));
  return Object.fromEntries(indices.map((index) => [`k${index}`, sampleOf(type.value, index, 1)]));
}

/** A value of a type with its required members; strings and numbers contain the index. */
function sampleOf(type: Type, index: number, depth: number): unknown {
  switch (type.shape) {
    case "scalar":
      return sampleScalar(type.name, index);
    case "list":
      return [sampleOf(type.element, index, depth + 1)];
    case "map":
      return { [`k${index}`]: sampleOf(type.value, index, depth + 1) };
    case "struct":
      return sampleStruct(type, index, depth);
    case "union":
      return sampleOf(Object.values(type.forms)[0]!.type, index, depth);
  }
}

function sampleStruct(type: StructType, index: number, depth: number): Json {
  const sample: Json = {};
  for (const [name, { type: member, facts }] of Object.entries(type.fields)) {
    const isKey = ["name", "key", "uid", "type", "port", "ip", "containerPort", "mountPath"].includes(name);
    if (!facts.mustBeGiven && !facts.required && !isKey) continue;
    if (depth >= maxDepth && !facts.mustBeGiven) continue;
    const words = facts.oneOf ?? facts.knownValues;
    sample[name] =
      words === undefined || member.shape !== "scalar"
        ? sampleOf(member, index, depth + 1)
        : resolveString(words[0]!, platform);
  }
  return sample;
}

function sampleScalar(name: string, index: number): unknown {
  switch (name) {
    case "bool":
      return true;
    case "int32":
    case "int64":
    case "double":
    case "intOrString":
      return 1 + (index % 60_000);
    case "bytes":
      return Buffer.from(`v${index}`).toString("base64");
    case "time":
    case "microTime":
      return name === "time" ? "2026-01-01T00:00:00Z" : "2026-01-01T00:00:00.000000Z";
    case "duration":
      return "1m0s";
    case "quantity":
      return String(1 + index);
    case "object":
    case "json":
      return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: `e${index}` } };
    case "fieldsV1":
      return { [`f:f${index}`]: {} };
    default:
      return `e${index}`;
  }
}
