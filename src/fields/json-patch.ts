import { defaultMaxDepth } from "../base/json/decode.ts";
import {
  type JsonObject,
  type JsonValue,
  deepClone,
  deepEqual,
  getMember,
  isObject,
  setMember,
} from "../base/json/value.ts";
import { StatusError } from "../base/status-error.ts";
import { type Pointer, isBelow, parsePointer } from "./json-pointer.ts";
import { inapplicablePatch, malformedPatch } from "./patch-fault.ts";

/** What one patch may cost. */
export interface JsonPatchLimits {
  readonly maxOperations: number;
  /** Characters, about, that `copy` operations may add together. */
  readonly maxCopiedCharacters: number;
  /** Nesting of the result. */
  readonly maxDepth: number;
  /** Values that operations may look at or shift together: what bounds the time. */
  readonly maxSteps: number;
}

export const defaultJsonPatchLimits: JsonPatchLimits = {
  maxOperations: 10_000,
  maxCopiedCharacters: 3 * 1024 * 1024,
  maxDepth: defaultMaxDepth,
  maxSteps: 200_000,
};

/**
 * Applies a JSON patch (RFC 6902; spec: conventions 4.7). As in the reference, a test for null holds for a member that is
 * absent. The target isn't changed; the result shares with it and with
 * the patch what no operation touched.
 * @throws PatchFault when the patch is malformed, or an operation doesn't fit: a path that doesn't exist, a failed test.
 * @throws StatusError RequestEntityTooLarge for too many operations.
 */
export function applyJsonPatch(
  target: JsonValue,
  patch: JsonValue,
  limits: JsonPatchLimits = defaultJsonPatchLimits,
): JsonValue {
  if (!Array.isArray(patch)) throw malformedPatch("a JSON patch is an array of operations");
  if (patch.length > limits.maxOperations) {
    throw new StatusError(
      "RequestEntityTooLarge",
      `a JSON patch may have ${limits.maxOperations} operations, this one has ${patch.length}`,
    );
  }
  const operations = patch.map(parseOperation);
  const patched = new PatchedDocument(target, limits);
  for (const operation of operations) patched.apply(operation);
  return patched.root;
}

type Operation =
  | { readonly op: "add" | "replace" | "test"; readonly path: Pointer; readonly value: JsonValue }
  | { readonly op: "move" | "copy"; readonly path: Pointer; readonly from: Pointer }
  | { readonly op: "remove"; readonly path: Pointer };

function parseOperation(given: JsonValue, index: number): Operation {
  if (!isObject(given)) throw malformedPatch(`operation ${index} is not an object`);
  const op = getMember(given, "op");
  const path = pointerMember(given, "path", index);
  switch (op) {
    case "add":
    case "replace":
    case "test": {
      const value = getMember(given, "value");
      if (value === undefined) throw malformedPatch(`operation ${index} (${op}) has no "value"`);
      return { op, path, value };
    }
    case "move":
    case "copy":
      return { op, path, from: pointerMember(given, "from", index) };
    case "remove":
      return { op, path };
    default:
      throw malformedPatch(`operation ${index} has an unknown "op"`);
  }
}

function pointerMember(operation: JsonObject, name: string, index: number): Pointer {
  const text = getMember(operation, name);
  if (typeof text !== "string") throw malformedPatch(`operation ${index} has no string "${name}"`);
  return parsePointer(text);
}

type Container = JsonObject | JsonValue[];

/** A document that is copied where it changes: `owned` are the arrays and objects that no one else can see. */
class PatchedDocument {
  readonly #owned = new Set<Container>();
  #copiedCharacters = 0;
  #steps = 0;

  constructor(
    public root: JsonValue,
    private readonly limits: JsonPatchLimits,
  ) {}

  apply(operation: Operation): void {
    const { path } = operation;
    switch (operation.op) {
      case "add":
        return this.#add(path, operation.value);
      case "remove":
        this.#remove(path);
        return;
      case "replace":
        return this.#replace(path, operation.value);
      case "move":
        return this.#move(operation.from, path);
      case "copy":
        return this.#copy(operation.from, path);
      case "test":
        return this.#test(path, operation.value);
    }
  }

  #add(path: Pointer, value: JsonValue): void {
    this.#checkDepth(path, this.#measure(value).depth);
    this.#insert(path, value);
  }

  #insert(path: Pointer, value: JsonValue): void {
    if (path.length === 0) {
      this.root = value;
      return;
    }
    const parent = this.#ownParent(path);
    const name = path.at(-1)!;
    if (!Array.isArray(parent)) return setMember(parent, name, value);
    if (name === "-" || name === String(parent.length)) {
      parent.push(value);
      return;
    }
    const index = this.#index(parent, name, path);
    this.#spend(parent.length - index);
    parent.splice(index, 0, value);
  }

  #remove(path: Pointer): JsonValue {
    const value = this.#get(path);
    if (path.length === 0) throw inapplicablePatch("the whole document can't be removed");
    const parent = this.#ownParent(path);
    if (Array.isArray(parent)) {
      const index = this.#index(parent, path.at(-1)!, path);
      this.#spend(parent.length - index);
      parent.splice(index, 1);
    } else {
      delete parent[path.at(-1)!];
    }
    return value;
  }

  #replace(path: Pointer, value: JsonValue): void {
    this.#get(path);
    this.#checkDepth(path, this.#measure(value).depth);
    if (path.length === 0) {
      this.root = value;
      return;
    }
    const parent = this.#ownParent(path);
    if (Array.isArray(parent)) parent[this.#index(parent, path.at(-1)!, path)] = value;
    else setMember(parent, path.at(-1)!, value);
  }

  #move(from: Pointer, path: Pointer): void {
    if (isBelow(path, from)) throw inapplicablePatch(`${show(from)} can't be moved into itself`);
    this.#checkDepth(path, this.#measure(this.#get(from)).depth);
    // The whole document has no place but its own; `isBelow` left only that one.
    if (from.length > 0) this.#insert(path, this.#remove(from));
  }

  #copy(from: Pointer, path: Pointer): void {
    const value = this.#get(from);
    const { depth, characters } = this.#measure(value);
    this.#checkDepth(path, depth);
    this.#copiedCharacters += characters;
    if (this.#copiedCharacters > this.limits.maxCopiedCharacters) {
      throw inapplicablePatch(
        `copy operations may add ${this.limits.maxCopiedCharacters} characters, these add more`,
      );
    }
    this.#insert(path, deepClone(value));
  }

  #test(path: Pointer, expected: JsonValue): void {
    if (expected === null && this.#isAbsentMember(path)) return;
    const value = this.#get(path);
    this.#measure(value);
    if (!deepEqual(expected, value))
      throw inapplicablePatch(`the test of ${show(path)} failed: its value is another`);
  }

  /** Whether the object exists in which a path ends, but not that member: clients test for it with null. */
  #isAbsentMember(path: Pointer): boolean {
    if (path.length === 0) return false;
    const parent = this.#get(path.slice(0, -1));
    return isObject(parent) && !Object.hasOwn(parent, path.at(-1)!);
  }

  /** The value at a path that must exist. */
  #get(path: Pointer): JsonValue {
    let value = this.root;
    for (const name of path) value = this.#child(value, name, path);
    return value;
  }

  #child(parent: JsonValue, name: string, path: Pointer): JsonValue {
    let child: JsonValue | undefined;
    if (Array.isArray(parent)) child = parent[this.#index(parent, name, path)];
    else if (isObject(parent)) child = getMember(parent, name);
    if (child === undefined) throw inapplicablePatch(`the path ${show(path)} doesn't exist`);
    return child;
  }

  /** The container that holds a path's last part, made our own together with all above it. */
  #ownParent(path: Pointer): Container {
    let parent = this.#own(this.root, path);
    this.root = parent;
    for (const name of path.slice(0, -1)) {
      const child = this.#own(this.#child(parent, name, path), path);
      if (Array.isArray(parent)) parent[Number(name)] = child;
      else setMember(parent, name, child);
      parent = child;
    }
    return parent;
  }

  #own(value: JsonValue, path: Pointer): Container {
    if (typeof value !== "object" || value === null) {
      throw inapplicablePatch(`the path ${show(path)} leads through a value that has no members`);
    }
    if (this.#owned.has(value)) return value;
    const copy = Array.isArray(value) ? value.slice() : { ...value };
    this.#owned.add(copy);
    return copy;
  }

  /** An index of an element that exists. */
  #index(array: readonly JsonValue[], name: string, path: Pointer): number {
    if (!/^(?:0|[1-9][0-9]{0,15})$/.test(name)) {
      throw inapplicablePatch(
        `the path ${show(path)} has ${JSON.stringify(name.slice(0, 64))} where an index must stand`,
      );
    }
    const index = Number(name);
    if (index >= array.length)
      throw inapplicablePatch(`the path ${show(path)} has an index beyond the array's end`);
    return index;
  }

  #checkDepth(path: Pointer, depth: number): void {
    if (path.length + depth > this.limits.maxDepth) {
      throw inapplicablePatch(`the result would be nested deeper than ${this.limits.maxDepth}`);
    }
  }

  #measure(value: JsonValue): Size {
    const size = measure(value);
    this.#spend(size.values);
    return size;
  }

  #spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps > this.limits.maxSteps)
      throw inapplicablePatch("the patch takes too much work for this object");
  }
}

interface Size {
  readonly depth: number;
  readonly values: number;
  readonly characters: number;
}

function measure(value: JsonValue): Size {
  if (typeof value === "string") return { depth: 0, values: 1, characters: value.length + 2 };
  if (typeof value !== "object" || value === null) return { depth: 0, values: 1, characters: 5 };
  let depth = 0;
  let values = 1;
  let characters = 2;
  const add = (child: JsonValue): void => {
    const size = measure(child);
    depth = Math.max(depth, size.depth);
    values += size.values;
    characters += size.characters + 1;
  };
  if (Array.isArray(value)) {
    for (const item of value) add(item);
  } else {
    for (const [name, member] of Object.entries(value)) {
      characters += name.length + 3;
      add(member);
    }
  }
  return { depth: depth + 1, values, characters };
}

function show(path: Pointer): string {
  const text = path.map((part) => `/${part.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  return JSON.stringify(text.length > 256 ? `${text.slice(0, 256)}…` : text);
}
