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
import { type Operation, parseOperation } from "./json-patch-operation.ts";
import { type Pointer, isBelow } from "./json-pointer.ts";
import { FailedTest, inapplicablePatch, malformedPatch } from "./patch-fault.ts";

/** Limits of one patch. */
export interface JsonPatchLimits {
  readonly maxOperations: number;
  /** Approximate number of characters that all `copy` operations may add. */
  readonly maxCopiedCharacters: number;
  /** Nesting of the result. */
  readonly maxDepth: number;
  /**
   * Limits the time of all operations. A step is one measured value (an unchanged container that was measured before counts
   * as one), or `itemsPerStep` shifted items of an array.
   */
  readonly maxSteps: number;
}

export const defaultJsonPatchLimits: JsonPatchLimits = {
  maxOperations: 10_000,
  maxCopiedCharacters: 3 * 1024 * 1024,
  maxDepth: defaultMaxDepth,
  maxSteps: 200_000,
};

/** Number of array items that can be shifted in the time of measuring one value. */
const itemsPerStep = 32;

/**
 * Applies a JSON patch (RFC 6902; spec: conventions 4.7). Two operations follow the reference instead of the RFC: a test for
 * null succeeds for an absent member, and `replace` adds an absent member. The target isn't changed; the result shares
 * unchanged parts with it and with the patch.
 * @throws PatchFault if the patch is malformed, or an operation fails: a missing path, a failed test.
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

type Container = JsonObject | JsonValue[];

/**
 * A document with copy-on-write: `owned` are the arrays and objects that only this document refers to. Each of them has one
 * parent, so a change passes all containers of the changed value and drops their cached sizes.
 */
class PatchedDocument {
  private readonly owned = new Set<Container>();
  /** Sizes of containers that are unchanged since they were measured, including their descendants. */
  private readonly sizes = new Map<Container, Size>();
  private copiedCharacters = 0;
  private steps = 0;

  constructor(
    public root: JsonValue,
    private readonly limits: JsonPatchLimits,
  ) {}

  apply(operation: Operation): void {
    const { path } = operation;
    switch (operation.op) {
      case "add":
        return this.add(path, operation.value);
      case "remove":
        return void this.remove(path);
      case "replace":
        return this.replace(path, operation.value);
      case "move":
        return this.move(operation.from, path);
      case "copy":
        return this.copy(operation.from, path);
      case "test":
        return this.test(path, operation.value);
    }
  }

  private add(path: Pointer, value: JsonValue): void {
    this.checkDepth(path, this.measure(value).depth);
    this.insert(path, value);
  }

  private insert(path: Pointer, value: JsonValue): void {
    if (path.length === 0) {
      this.root = value;
      return;
    }
    const parent = this.ownParent(path);
    const name = path.at(-1)!;
    if (!Array.isArray(parent)) return setMember(parent, name, value);
    if (name === "-" || name === String(parent.length)) {
      parent.push(value);
      return;
    }
    const index = this.index(parent, name, path);
    this.spendShift(parent, index);
    parent.splice(index, 0, value);
  }

  private remove(path: Pointer): JsonValue {
    const value = this.get(path);
    if (path.length === 0) throw inapplicablePatch("the whole document can't be removed");
    const parent = this.ownParent(path);
    if (Array.isArray(parent)) {
      const index = this.index(parent, path.at(-1)!, path);
      this.spendShift(parent, index);
      parent.splice(index, 1);
    } else {
      delete parent[path.at(-1)!];
    }
    return value;
  }

  private replace(path: Pointer, value: JsonValue): void {
    this.checkDepth(path, this.measure(value).depth);
    if (path.length === 0) {
      this.root = value;
      return;
    }
    const parent = this.ownParent(path);
    if (Array.isArray(parent)) parent[this.index(parent, path.at(-1)!, path)] = value;
    else setMember(parent, path.at(-1)!, value);
  }

  private move(from: Pointer, path: Pointer): void {
    if (isBelow(path, from)) throw inapplicablePatch(`${show(from)} can't be moved into itself`);
    this.checkDepth(path, this.measure(this.get(from)).depth);
    // The whole document can only be moved to itself; `isBelow` excluded all other paths.
    if (from.length > 0) this.insert(path, this.remove(from));
  }

  private copy(from: Pointer, path: Pointer): void {
    const value = this.get(from);
    const { depth, characters } = this.measure(value);
    this.checkDepth(path, depth);
    this.copiedCharacters += characters;
    if (this.copiedCharacters > this.limits.maxCopiedCharacters) {
      throw inapplicablePatch(
        `copy operations may add ${this.limits.maxCopiedCharacters} characters, these add more`,
      );
    }
    this.insert(path, deepClone(value));
  }

  private test(path: Pointer, expected: JsonValue): void {
    if (expected === null && this.isAbsentMember(path)) return;
    // A comparison ends at the first difference: its cost is at most the size of the expected value.
    this.measure(expected);
    if (!deepEqual(expected, this.get(path)))
      throw new FailedTest(`the test of ${show(path)} failed: its value is another`);
  }

  /** Whether the parent object of a path exists without the member; a test for null succeeds then. */
  private isAbsentMember(path: Pointer): boolean {
    if (path.length === 0) return false;
    const parent = this.get(path.slice(0, -1));
    return isObject(parent) && !Object.hasOwn(parent, path.at(-1)!);
  }

  /** Returns the value at a path, which must exist. */
  private get(path: Pointer): JsonValue {
    let value = this.root;
    for (const name of path) value = this.child(value, name, path);
    return value;
  }

  private child(parent: JsonValue, name: string, path: Pointer): JsonValue {
    let child: JsonValue | undefined;
    if (Array.isArray(parent)) child = parent[this.index(parent, name, path)];
    else if (isObject(parent)) child = getMember(parent, name);
    if (child === undefined) throw inapplicablePatch(`the path ${show(path)} doesn't exist`);
    return child;
  }

  /** Returns the parent of a path for modification; copies it and its ancestors if they are shared. */
  private ownParent(path: Pointer): Container {
    let parent = this.own(this.root, path);
    this.root = parent;
    for (const name of path.slice(0, -1)) {
      const child = this.own(this.child(parent, name, path), path);
      if (Array.isArray(parent)) parent[Number(name)] = child;
      else setMember(parent, name, child);
      parent = child;
    }
    return parent;
  }

  private own(value: JsonValue, path: Pointer): Container {
    if (typeof value !== "object" || value === null) {
      throw inapplicablePatch(`the path ${show(path)} leads through a value that has no members`);
    }
    if (this.owned.has(value)) {
      this.sizes.delete(value);
      return value;
    }
    const copy = Array.isArray(value) ? value.slice() : { ...value };
    this.owned.add(copy);
    return copy;
  }

  /** Parses the index of an existing element. */
  private index(array: readonly JsonValue[], name: string, path: Pointer): number {
    if (!/^(?:0|[1-9][0-9]{0,15})$/.test(name)) {
      throw inapplicablePatch(
        `the path ${show(path)} has ${JSON.stringify(name.slice(0, 64))} instead of an index`,
      );
    }
    const index = Number(name);
    if (index >= array.length)
      throw inapplicablePatch(`the path ${show(path)} has an index beyond the array's end`);
    return index;
  }

  private checkDepth(path: Pointer, depth: number): void {
    if (path.length + depth > this.limits.maxDepth) {
      throw inapplicablePatch(`the result would be nested deeper than ${this.limits.maxDepth}`);
    }
  }

  private measure(value: JsonValue): Size {
    this.spend(1);
    if (typeof value === "string") return { depth: 0, characters: value.length + 2 };
    if (typeof value !== "object" || value === null) return scalarSize;
    const cached = this.sizes.get(value);
    if (cached !== undefined) return cached;
    const size = Array.isArray(value) ? this.measureArray(value) : this.measureObject(value);
    this.sizes.set(value, size);
    return size;
  }

  private measureArray(array: readonly JsonValue[]): Size {
    let depth = 0;
    let characters = 2;
    for (const item of array) {
      const size = this.measure(item);
      if (size.depth > depth) depth = size.depth;
      characters += size.characters + 1;
    }
    return { depth: depth + 1, characters };
  }

  private measureObject(object: JsonObject): Size {
    let depth = 0;
    let characters = 2;
    // for-in is faster than a list of the members; nothing enumerable is inherited.
    for (const name in object) {
      const size = this.measure(object[name]!);
      if (size.depth > depth) depth = size.depth;
      characters += name.length + size.characters + 4;
    }
    return { depth: depth + 1, characters };
  }

  private spendShift(array: readonly JsonValue[], index: number): void {
    this.spend(Math.ceil((array.length - index) / itemsPerStep));
  }

  private spend(steps: number): void {
    this.steps += steps;
    if (this.steps > this.limits.maxSteps)
      throw inapplicablePatch("the patch takes too much work for this object");
  }
}

interface Size {
  /** Depth; 0 for a scalar. */
  readonly depth: number;
  /** Approximate length as JSON. */
  readonly characters: number;
}

const scalarSize: Size = { depth: 0, characters: 5 };

function show(path: Pointer): string {
  const text = path.map((part) => `/${part.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  return JSON.stringify(text.length > 256 ? `${text.slice(0, 256)}…` : text);
}
