import { encodeJson } from "../../base/json/encode.ts";
import { parseExactJson } from "../../base/json/embedded.ts";
import { isObject, type JsonObject, type JsonValue } from "../../base/json/value.ts";

/** A field that differs between two states of an object. */
export interface FieldChange {
  /** Such as `.spec.ports[0].port`. */
  readonly path: string;
  /** Undefined if the field was added. */
  readonly before: JsonValue | undefined;
  /** Undefined if the field was removed. */
  readonly after: JsonValue | undefined;
  /** Names of the field managers that own the field in the later state, or in the earlier one if it was removed. */
  readonly managers: readonly string[];
}

/** Members of the metadata that every write changes. */
const ofEveryWrite: ReadonlySet<string> = new Set(["resourceVersion", "managedFields"]);

/** An object's fields with their owners. */
interface Owner {
  readonly manager: string;
  readonly fields: JsonObject;
}

/** Returns the fields that differ, with their managers. @param before undefined if the object did not exist; so `after`. */
export function fieldChanges(before: JsonObject | undefined, after: JsonObject | undefined): FieldChange[] {
  const changes: FieldChange[] = [];
  const owners = ownersOf(after ?? before);
  compare(comparable(before), comparable(after), { path: "", owners, changes });
  return changes;
}

/** An object without the members that every write changes. */
function comparable(object: JsonObject | undefined): JsonObject {
  if (object === undefined) return {};
  const { metadata } = object;
  if (!isObject(metadata)) return object;
  const members = Object.entries(metadata).filter(([name]) => !ofEveryWrite.has(name));
  return { ...object, metadata: Object.fromEntries(members) };
}

function ownersOf(object: JsonObject | undefined): Owner[] {
  const metadata = object?.["metadata"];
  const entries = isObject(metadata) ? metadata["managedFields"] : undefined;
  if (!Array.isArray(entries)) return [];
  return entries.filter(isObject).flatMap((entry) => {
    const fields = entry["fieldsV1"];
    return isObject(fields) ? [{ manager: String(entry["manager"]), fields }] : [];
  });
}

interface Comparison {
  readonly path: string;
  /** The owners of this value, with the part of their fields below it. */
  readonly owners: readonly Owner[];
  readonly changes: FieldChange[];
}

function compare(before: JsonValue | undefined, after: JsonValue | undefined, at: Comparison): void {
  const isSame = Object.is(before, after);
  if (isSame) return;
  if (isObject(before) && isObject(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)]))
      compare(before[name], after[name], member(at, name));
    return;
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    for (let index = 0; index < Math.max(before.length, after.length); index++)
      compare(before[index], after[index], item(at, index, after[index] ?? before[index]));
    return;
  }
  // An added or removed object is shown by its fields.
  const only = before === undefined ? after : after === undefined ? before : undefined;
  if (isObject(only) && Object.keys(only).length > 0) {
    for (const name of Object.keys(only))
      compare(
        isObject(before) ? before[name] : undefined,
        isObject(after) ? after[name] : undefined,
        member(at, name),
      );
    return;
  }
  const managers = [...new Set(at.owners.map(({ manager }) => manager))];
  at.changes.push({ path: at.path, before, after, managers });
}

function member(at: Comparison, name: string): Comparison {
  const path = /^[A-Za-z_]\w*$/.test(name) ? `${at.path}.${name}` : `${at.path}[${JSON.stringify(name)}]`;
  return { ...at, path, owners: below(at.owners, (key) => key === `f:${name}`) };
}

function item(at: Comparison, index: number, value: JsonValue | undefined): Comparison {
  const isOfItem = (key: string): boolean => {
    if (key.startsWith("v:")) return value !== undefined && key.slice(2) === encodeJson(value);
    if (key.startsWith("i:")) return key.slice(2) === String(index);
    if (!key.startsWith("k:") || !isObject(value)) return false;
    const names: unknown = parseExactJson(key.slice(2));
    return (
      isObject(names as JsonValue) &&
      Object.entries(names as JsonObject).every(([name, one]) => value[name] === one)
    );
  };
  return { ...at, path: `${at.path}[${index}]`, owners: below(at.owners, isOfItem) };
}

/**
 * The owners of a part of a value: those that name the part, otherwise those that own the value without naming its parts. The latter own
 * all of an atomic value, but of another map or list only that it exists.
 */
function below(owners: readonly Owner[], isPart: (key: string) => boolean): Owner[] {
  const ofPart = owners.flatMap(({ manager, fields }) => {
    const key = Object.keys(fields).find(isPart);
    const part = key === undefined ? undefined : fields[key];
    return isObject(part) ? [{ manager, fields: part }] : [];
  });
  return ofPart.length > 0 ? ofPart : owners.filter(({ fields }) => Object.keys(fields).length === 0);
}
