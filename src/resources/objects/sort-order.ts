import type { Entry } from "../../storage/store.ts";
import { namesOf, type Resource } from "../registry/registry.ts";
import { selectableValue } from "./selection.ts";
import { headerOf, metadataOf } from "./stored.ts";

/** The order of a list by one field; objects with equal values are in the order of their keys. */
export interface SortOrder {
  /** As in the request: the field, with `-` in front for descending. */
  readonly text: string;
  readonly descending: boolean;
  /** The value of an object; empty if it has none. */
  valueOf(entry: Entry): string;
}

/** The fields by which lists of a resource type can be sorted. */
export function sortableFields({ namespaced, kind }: Resource): string[] {
  return [
    "metadata.name",
    ...(namespaced ? ["metadata.namespace"] : []),
    "metadata.creationTimestamp",
    ...Object.keys(kind.selectable),
  ].filter((field, index, all) => all.indexOf(field) === index);
}

/** Returns the order by a text; undefined if the resource type can't be sorted by its field. */
export function sortOrder(resource: Resource, text: string): SortOrder | undefined {
  const descending = text.startsWith("-");
  const field = descending ? text.slice(1) : text;
  if (!sortableFields(resource).includes(field)) return undefined;
  return { text, descending, valueOf: valueOf(resource, field) };
}

function valueOf(resource: Resource, field: string): SortOrder["valueOf"] {
  switch (field) {
    case "metadata.name":
      return ({ key }) => namesOf(key).name;
    case "metadata.namespace":
      return ({ key }) => namesOf(key).namespace;
    case "metadata.creationTimestamp":
      return (entry) => metadataOf(entry).creationTimestamp ?? "";
    default:
      return (entry) => selectableValue(resource, entry, field, headerOf(entry));
  }
}

/** A value for comparisons: the number of an integer in its usual form, if it is exact; other texts unchanged. */
export type SortValue = string | number;

export function sortValue(text: string): SortValue {
  return /^(?:0|-?[1-9]\d{0,14})$/.test(text) ? Number(text) : text;
}

/** Compares two values: integers by their size, before all texts. */
export function compareValues(one: SortValue, other: SortValue): number {
  if (typeof one === "number" && typeof other === "number") return one - other;
  if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
  return one < other ? -1 : one > other ? 1 : 0;
}
