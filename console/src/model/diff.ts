import { isEqual, isRecord, memberOf, pathText } from "./paths.ts";

/** A changed field; `before` or `after` is undefined if the field was added or removed. */
export interface FieldChange {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Members of metadata that change with every write. */
const ignored = new Set(["managedFields", "resourceVersion", "generation"]);

/** Returns the changed fields between two objects, without those that change with every write. */
export function changesBetween(before: object, after: object): FieldChange[] {
  return [...changes(before, after, [])];
}

function* changes(before: unknown, after: unknown, path: readonly string[]): Generator<FieldChange> {
  if (isEqual(before, after)) return;
  if (isRecord(before) && isRecord(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      if (path.length === 1 && path[0] === "metadata" && ignored.has(key)) continue;
      yield* changes(memberOf(before, key), memberOf(after, key), [...path, key]);
    }
    return;
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    yield* listChanges(before, after, path);
    return;
  }
  yield { path: pathText(path), before, after };
}

/** Items with names are compared by name, others by position. */
function* listChanges(
  before: readonly unknown[],
  after: readonly unknown[],
  path: readonly string[],
): Generator<FieldChange> {
  const [old, current] = [byName(before), byName(after)];
  if (old !== undefined && current !== undefined) {
    for (const name of new Set([...old.keys(), ...current.keys()])) {
      yield* changes(old.get(name), current.get(name), [...path, `[name=${JSON.stringify(name)}]`]);
    }
    return;
  }
  for (let at = 0; at < Math.max(before.length, after.length); at++) {
    yield* changes(before[at], after[at], [...path, `[${at}]`]);
  }
}

/** Items by their member `name` or `type`; undefined if not all have one of their own. */
function byName(items: readonly unknown[]): Map<string, unknown> | undefined {
  const result = new Map<string, unknown>();
  for (const item of items) {
    const name = isRecord(item) ? (item["name"] ?? item["type"]) : undefined;
    if (typeof name !== "string" || result.has(name)) return undefined;
    result.set(name, item);
  }
  return result;
}
