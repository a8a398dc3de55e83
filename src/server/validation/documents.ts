import { isObject, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import type { ValidationLocation } from "./problem.ts";

/** An object to validate, or context for other objects. */
export interface ManifestObject {
  readonly value: JsonObject;
  /** Paths of repeated members, relative to the object. */
  readonly duplicates: readonly string[];
  /** Position of the document with the object; undefined if it isn't from a file. */
  readonly start: ValidationLocation | undefined;
  /** Finds the position of a field, which parses the document again; undefined if the object isn't from a file. */
  readonly locate:
    ((field: string, occurrence?: "first" | "last") => Promise<ValidationLocation>) | undefined;
}

/** What identifies a manifest. */
export interface ObjectName {
  readonly apiVersion: string;
  /** Without the version; empty for the core group. */
  readonly group: string;
  readonly kind: string;
  /** Empty if the manifest has none. */
  readonly namespace: string;
  readonly name: string;
}

/** Returns the texts that identify a manifest; empty ones where it has none. */
export function nameOf({ apiVersion, kind, metadata }: JsonObject): ObjectName {
  const meta = isObject(metadata) ? metadata : {};
  const version = textOf(apiVersion);
  return {
    apiVersion: version,
    group: version.includes("/") ? version.slice(0, version.indexOf("/")) : "",
    kind: textOf(kind),
    namespace: textOf(meta["namespace"]),
    name: textOf(meta["name"]) || textOf(meta["generateName"]),
  };
}

/** Returns a text; empty for a value of another type. */
export function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

/** Returns the object at a path of members; undefined if there is none. */
export function objectAt(value: JsonValue | undefined, ...path: readonly string[]): JsonObject | undefined {
  let one = value;
  for (const name of path) one = isObject(one) ? one[name] : undefined;
  return isObject(one) ? one : undefined;
}

/** Returns the list at a path of members; empty if there is none. */
export function listAt(value: JsonValue | undefined, ...path: readonly string[]): readonly JsonValue[] {
  const parent = objectAt(value, ...path.slice(0, -1));
  const list = parent?.[path.at(-1)!];
  return Array.isArray(list) ? list : [];
}

/** An item of a list object, and its path in the list. */
export interface ListItem {
  readonly value: JsonValue;
  readonly path: string;
}

/** Returns the items of a `List`, or of a list of a kind, as kubectl does; undefined for another object. */
export function itemsOf(value: JsonValue): readonly ListItem[] | undefined {
  if (!isObject(value) || !Array.isArray(value["items"])) return undefined;
  const { kind, apiVersion, items } = value;
  if (typeof kind !== "string" || !kind.endsWith("List")) return undefined;
  const itemKind = kind.slice(0, -"List".length);
  return (items as JsonValue[]).map((item, index) => ({
    value:
      isObject(item) && itemKind !== "" && item["kind"] === undefined
        ? { apiVersion: apiVersion!, kind: itemKind, ...item }
        : item,
    path: `items[${index}]`,
  }));
}
