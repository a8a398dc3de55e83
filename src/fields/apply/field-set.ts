import { encodeJson, encodeString } from "../../base/json/encode.ts";
import { parseExactJson } from "../../base/json/embedded.ts";
import type { JsonValue } from "../../base/json/value.ts";

/**
 * An immutable set of field paths (spec: conventions 2.5; `fieldpath.Set`). A path is a list of elements in the format of
 * `fieldsV1`: `f:name` is a member of an object, `k:{"name":"a"}` a list item by its keys, `v:"a"` an item of a set by its value,
 * `i:0` an item by its index. Operations share unchanged subsets with their operands.
 */
export class FieldSet {
  static readonly empty = new FieldSet(false, new Map());

  /** Cached result of {@link fieldSetText}. */
  private text: string | undefined;

  private constructor(
    /** Whether the path of this node is in the set. */
    readonly isMember: boolean,
    readonly children: ReadonlyMap<string, FieldSet>,
  ) {}

  /** Creates a set from its children, none of which may be empty; with `isMember` it contains its own path too. */
  static of(isMember: boolean, children: ReadonlyMap<string, FieldSet>): FieldSet {
    return !isMember && children.size === 0 ? FieldSet.empty : new FieldSet(isMember, children);
  }

  /** The set that contains only its own path. */
  static readonly leaf = new FieldSet(true, new Map());

  get isEmpty(): boolean {
    return !this.isMember && this.children.size === 0;
  }

  /** Returns the child at an element; the empty set if there is none. */
  below(element: string): FieldSet {
    return this.children.get(element) ?? FieldSet.empty;
  }

  has(path: readonly string[]): boolean {
    const [first, ...rest] = path;
    return first === undefined ? this.isMember : this.below(first).has(rest);
  }

  /** Returns the union; this set itself if the other adds nothing. */
  union(other: FieldSet): FieldSet {
    if (other.isEmpty || this === other) return this;
    if (this.isEmpty) return other;
    let children: Map<string, FieldSet> | undefined;
    for (const [element, set] of other.children) {
      const own = this.children.get(element);
      const both = own === undefined ? set : own.union(set);
      if (both !== own) (children ??= new Map(this.children)).set(element, both);
    }
    if (children === undefined && (this.isMember || !other.isMember)) return this;
    return new FieldSet(this.isMember || other.isMember, children ?? this.children);
  }

  /** Returns the union of many sets in one walk. */
  static unionOf(sets: readonly FieldSet[]): FieldSet {
    const [first = FieldSet.empty] = sets;
    if (sets.length <= 1) return first;
    const below = new Map<string, FieldSet[]>();
    for (const { children } of sets) {
      for (const [element, set] of children) {
        const existing = below.get(element);
        if (existing === undefined) below.set(element, [set]);
        else existing.push(set);
      }
    }
    const children = new Map([...below].map(([element, each]) => [element, FieldSet.unionOf(each)]));
    return FieldSet.of(
      sets.some(({ isMember }) => isMember),
      children,
    );
  }

  /** Returns the intersection; the smaller set itself if the other has all of it. */
  intersection(other: FieldSet): FieldSet {
    if (this === other) return this;
    // Iterate over the smaller set.
    if (this.children.size > other.children.size) return other.intersection(this);
    const isMember = this.isMember && other.isMember;
    if (this.children.size === 0) return isMember ? FieldSet.leaf : FieldSet.empty;
    let children: Map<string, FieldSet> | undefined;
    for (const [element, set] of this.children) {
      const theirs = other.children.get(element);
      const shared = theirs === undefined ? FieldSet.empty : set.intersection(theirs);
      if (shared === set) continue;
      children ??= new Map(this.children);
      if (shared.isEmpty) children.delete(element);
      else children.set(element, shared);
    }
    if (children === undefined && isMember === this.isMember) return this;
    return FieldSet.of(isMember, children ?? this.children);
  }

  /** Returns the difference; this set itself if nothing is removed. */
  difference(other: FieldSet): FieldSet {
    if (this === other) return FieldSet.empty;
    return this.without(other, (set, theirs) => set.difference(theirs), this.isMember && !other.isMember);
  }

  /** Like {@link difference}, and also removes everything below members of the other set. */
  recursiveDifference(other: FieldSet): FieldSet {
    if (other.isMember) return FieldSet.empty;
    return this.without(other, (set, theirs) => set.recursiveDifference(theirs), this.isMember);
  }

  private without(
    other: FieldSet,
    rest: (set: FieldSet, theirs: FieldSet) => FieldSet,
    isMember: boolean,
  ): FieldSet {
    let children: Map<string, FieldSet> | undefined;
    for (const [element, theirs] of other.children) {
      const own = this.children.get(element);
      if (own === undefined) continue;
      const left = rest(own, theirs);
      if (left === own) continue;
      children ??= new Map(this.children);
      if (left.isEmpty) children.delete(element);
      else children.set(element, left);
    }
    if (children === undefined && isMember === this.isMember) return this;
    return FieldSet.of(isMember, children ?? this.children);
  }

  /** See {@link fieldSetText}. The texts of subsets are cached too, so sets that share subsets share this work. */
  static textOf(set: FieldSet): string {
    if (set.text !== undefined) return set.text;
    const { children } = set;
    let text = set.isMember && children.size > 0 ? '".":{}' : "";
    for (const element of sortTexts([...children.keys()])) {
      text += `${text === "" ? "" : ","}${encodeString(element)}:${FieldSet.textOf(children.get(element)!)}`;
    }
    return (set.text = `{${text}}`);
  }

  /** Caches the text of a set. */
  static withText(set: FieldSet, text: string): FieldSet {
    set.text = text;
    return set;
  }

  equals(other: FieldSet): boolean {
    if (this === other) return true;
    if (this.isMember !== other.isMember || this.children.size !== other.children.size) return false;
    for (const [element, set] of this.children) {
      const theirs = other.children.get(element);
      if (theirs === undefined || !set.equals(theirs)) return false;
    }
    return true;
  }

  /** Returns all paths of the set, sorted. */
  *paths(prefix: readonly string[] = []): Generator<readonly string[]> {
    if (this.isMember) yield prefix;
    for (const [element, set] of [...this.children].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      yield* set.paths([...prefix, element]);
    }
  }
}

/**
 * Encodes a set as `fieldsV1` in JSON. A member with children has the key `.`. Elements are sorted, so equal sets have equal
 * texts.
 */
export function fieldSetText(set: FieldSet): string {
  return FieldSet.textOf(set);
}

/** Parses `fieldsV1`. Ignores malformed parts: an entry of another program must not prevent writes of the object. */
export function decodeFieldSet(fields: unknown): FieldSet {
  const set = decodeBelow(fields, false, 0);
  // The path of the object itself is never owned.
  return set.isMember ? FieldSet.of(false, set.children) : set;
}

/** Whether `fieldsV1` is well-formed. An absent value is an empty set; elements of unknown types are ignored. */
export function isFieldSet(fields: unknown, depth = 0): boolean {
  if (fields === undefined || fields === null) return depth === 0;
  if (typeof fields !== "object" || Array.isArray(fields) || depth > maxDepth) return false;
  return Object.entries(fields).every(([element, below]) => {
    if (element === "." || !/^.:/s.test(element)) return element === ".";
    return !elementForm.test(element) || (isElement(element) && isFieldSet(below, depth + 1));
  });
}

/** Whether the keys, the value or the index of a path element are well-formed. */
function isElement(element: string): boolean {
  const rest = element.slice(2);
  if (element.startsWith("f:")) return true;
  if (element.startsWith("i:")) return /^-?\d+$/.test(rest);
  const value = parseElement(rest);
  if (value === undefined || element.startsWith("v:")) return value !== undefined;
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Maximum nesting of objects, and so of sets. */
const maxDepth = 1000;
const elementForm = /^[fkvi]:/;

function decodeBelow(fields: unknown, hasPath: boolean, depth: number): FieldSet {
  if (typeof fields !== "object" || fields === null || Array.isArray(fields) || depth > maxDepth) {
    return hasPath ? FieldSet.leaf : FieldSet.empty;
  }
  const children = new Map<string, FieldSet>();
  let isMember = false;
  for (const [element, below] of Object.entries(fields)) {
    if (element === ".") isMember = true;
    else if (elementForm.test(element)) {
      const set = decodeBelow(below, true, depth + 1);
      if (!set.isEmpty) children.set(canonicalElement(element), set);
    }
  }
  return FieldSet.of(isMember || (hasPath && children.size === 0), children);
}

/** Returns the canonical text of an element with keys or a value. */
function canonicalElement(element: string): string {
  if (!element.startsWith("k:") && !element.startsWith("v:")) return element;
  const value = parseElement(element.slice(2));
  if (value === undefined) return element;
  if (element.startsWith("v:")) return valueElement(value);
  return typeof value === "object" && value !== null ? keyElement(value as Record<string, unknown>) : element;
}

/** Parses JSON with exact numbers; returns undefined if the text is malformed or nested too deeply. */
function parseElement(text: string): JsonValue | undefined {
  try {
    return parseExactJson(text, maxDepth);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Up to this many strings, insertion is faster than `Array.sort`. */
const fewTexts = 16;

/** Returns the texts sorted; may sort in place. */
export function sortTexts(texts: string[]): readonly string[] {
  if (texts.length > fewTexts) return texts.toSorted();
  for (let from = 1; from < texts.length; from++) {
    const text = texts[from]!;
    let to = from;
    while (to > 0 && texts[to - 1]! > text) {
      texts[to] = texts[to - 1]!;
      to--;
    }
    texts[to] = text;
  }
  return texts;
}

/** Decodes a text that {@link fieldSetText} encoded. */
export function readFieldSet(text: string): FieldSet {
  const set = readBelow(JSON.parse(text) as object, false);
  return set.isEmpty ? set : FieldSet.withText(set, text);
}

function readBelow(fields: object, hasPath: boolean): FieldSet {
  const children = new Map<string, FieldSet>();
  let isMember = false;
  for (const [element, below] of Object.entries(fields)) {
    if (element === ".") isMember = true;
    else children.set(element, readBelow(below as object, true));
  }
  if (children.size === 0) return hasPath ? FieldSet.leaf : FieldSet.empty;
  return FieldSet.of(isMember, children);
}

/** Returns the path element of a member. */
export function fieldElement(name: string): string {
  return `f:${name}`;
}

/** Returns the path element of an item of a set. */
export function valueElement(value: unknown): string {
  return `v:${encodeJson(value as JsonValue)}`;
}

/** Returns the path element of a list item with keys, sorted by name. */
export function keyElement(keys: Readonly<Record<string, unknown>>): string {
  let text = "";
  for (const name of sortTexts(Object.keys(keys))) text += keyText(text, name, keys[name]);
  return `k:{${text}}`;
}

/**
 * Returns the text of a key in the path element of a list item.
 *
 * @param before the text of the keys before it.
 */
export function keyText(before: string, name: string, value: unknown): string {
  const json = typeof value === "string" ? encodeString(value) : encodeJson(value as JsonValue);
  return `${before === "" ? "" : ","}${encodeString(name)}:${json}`;
}
