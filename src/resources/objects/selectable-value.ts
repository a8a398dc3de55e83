import type { Entry } from "../../storage/store.ts";
import type { Resource } from "../registry/registry.ts";
import { decodeEntry, type Header } from "./stored.ts";

/**
 * Returns the value of a selectable field of an object; empty if it has none. The header has it unless the definition of a custom kind got
 * the field after the object was written; then the object is decoded.
 *
 * @param field name of the field in the version of the resource type.
 */
export function selectableValue({ kind }: Resource, entry: Entry, field: string, header: Header): string {
  const name = kind.conversion?.selectableNames?.[field] ?? field;
  if (kind.custom === undefined || Object.hasOwn(header.fields, name)) return header.fields[name] ?? "";
  return kind.selectable[field]!(decodeEntry(entry));
}
