import type { Kind } from "../../schema/kind.ts";
import type { Entry } from "../../storage/store.ts";
import type { Resource } from "../registry/registry.ts";
import { decodeEntry, type Header } from "./stored.ts";

/** Whether the headers of all objects of a kind have a selectable field, so that their bytes and indexes can be searched for it. */
export function isInHeaders({ custom, laterSelectable }: Kind, field: string): boolean {
  return custom === undefined && laterSelectable?.has(field) !== true;
}

/**
 * Returns the value of a selectable field of an object; empty if it has none. The header has it unless the kind got the field after the
 * object was written; then the object is decoded.
 *
 * @param field name of the field in the version of the resource type.
 */
export function selectableValue({ kind }: Resource, entry: Entry, field: string, header: Header): string {
  const name = kind.conversion?.selectableNames?.[field] ?? field;
  if (isInHeaders(kind, field) || Object.hasOwn(header.fields, name)) return header.fields[name] ?? "";
  return kind.selectable[field]!(decodeEntry(entry));
}
