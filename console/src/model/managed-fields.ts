import { isRecord, pathText } from "./paths.ts";

/** An entry of `metadata.managedFields`. */
export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: string;
  readonly time?: string | null;
  readonly subresource?: string;
  readonly fieldsV1?: object;
}

/** Who owns a field. */
export interface FieldOwner {
  readonly manager: string;
  /** `Apply` or `Update`. */
  readonly operation: string;
  readonly subresource: string;
  /** Time of the last change of the fields of this owner; empty if unknown. */
  readonly time: string;
}

/** A field, its value and its owners. */
export interface OwnedField {
  readonly path: string;
  readonly value: unknown;
  readonly owners: readonly FieldOwner[];
}

/** Returns the owned fields of an object, in the order of their paths. */
export function ownedFields(object: object, entries: readonly ManagedFieldsEntry[]): OwnedField[] {
  const fields = new Map<string, { readonly value: unknown; readonly owners: FieldOwner[] }>();
  for (const { manager = "", operation = "", time, subresource = "", fieldsV1 = {} } of entries) {
    const owner = { manager, operation, subresource, time: time ?? "" };
    for (const { path, value } of leaves(fieldsV1, object, [])) {
      const text = pathText(path);
      const field = fields.get(text);
      if (field === undefined) fields.set(text, { value, owners: [owner] });
      else field.owners.push(owner);
    }
  }
  return [...fields.entries()]
    .map(([path, { value, owners }]) => ({ path, value, owners }))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

interface Leaf {
  readonly path: readonly string[];
  readonly value: unknown;
}

function* leaves(set: object, value: unknown, path: readonly string[]): Generator<Leaf> {
  const members = Object.entries(set).filter(([key]) => key !== ".");
  if (members.length === 0) {
    yield { path, value };
    return;
  }
  for (const [key, below] of members) {
    const { step, child } = stepTo(key, value);
    yield* leaves(below as object, child, [...path, step]);
  }
}

/** The step of a key such as `f:spec`, `k:{"name":"web"}`, `v:"a"` or `i:0`, and the value there. */
function stepTo(key: string, value: unknown): { readonly step: string; readonly child: unknown } {
  const text = key.slice(2);
  if (key.startsWith("f:")) return { step: text, child: isRecord(value) ? value[text] : undefined };
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  if (key.startsWith("i:")) return { step: `[${text}]`, child: items[Number(text)] };
  const selector = parsed(text);
  if (key.startsWith("v:")) return { step: `[${text}]`, child: selector };
  if (!isRecord(selector)) return { step: `[${text}]`, child: undefined };
  const names = Object.entries(selector);
  const child = items.find(
    (item) => isRecord(item) && names.every(([name, one]) => item[name] === undefined || item[name] === one),
  );
  return { step: `[${names.map(([name, one]) => `${name}=${JSON.stringify(one)}`).join(",")}]`, child };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not as the server writes it: shown as text.
    return text;
  }
}

/**
 * Returns the parts of an object that a set of fields names. A list is taken as a whole if the set names any of its items.
 */
export function partsOf(object: Readonly<Record<string, unknown>>, set: object): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [key, below] of Object.entries(set)) {
    if (!key.startsWith("f:")) continue;
    const name = key.slice(2);
    const value = object[name];
    if (value === undefined) continue;
    const isWhole = !isRecord(value) || !Object.keys(below as object).some((one) => one.startsWith("f:"));
    result[name] = isWhole ? value : partsOf(value, below as object);
  }
  return result;
}

/** Returns the newest entry with a time; undefined if there is none. */
export function newestWrite(
  entries: readonly ManagedFieldsEntry[],
): { readonly time: string; readonly manager: string } | undefined {
  let newest: { readonly time: string; readonly manager: string } | undefined;
  for (const { time, manager = "" } of entries) {
    if (typeof time === "string" && (newest === undefined || time > newest.time)) newest = { time, manager };
  }
  return newest;
}
