import { withoutKeyspace } from "../../storage/keys.ts";
import { isLater, releases, type Release } from "../../base/releases.ts";
import { type JsonObject, isObject, type JsonValue } from "../../base/json/value.ts";
import {
  noManagedFieldsText,
  joinEntries,
  splitEntries,
  type EntryText,
  type ManagedFieldsText,
  sortEntries,
} from "../../fields/apply/new-fields-text.ts";
import { decode, TypeFault } from "../../schema/decode.ts";
import type { ApiObject, Kind } from "../../schema/kind.ts";
import { inOrder } from "../../schema/order.ts";
import { releaseDifferences } from "../../schema/release-differences.ts";
import { keepUndeclared, removeUndeclared } from "../../schema/undeclared.ts";
import { entryWith } from "../../storage/entry.ts";
import type { Draft, Entry } from "../../storage/store.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { asBuffer, decodeLive, encodeObject, sameContent } from "../objects/stored.ts";
import { isStored, resourceOf, type Resource } from "../registry/registry.ts";
import type { ReleaseRecord } from "./release-record.ts";
import { FieldSet, fieldSetText, keyElement, readFieldSet } from "../../fields/apply/field-set.ts";
import { managerId } from "../../fields/apply/manager.ts";
import type { ListType, Type } from "../../schema/types.ts";
import { formOf } from "../../schema/unions.ts";

/** A collection whose objects can have another form than that of the server's release. */
interface Collection {
  /** In the release of the server. */
  readonly resource: Resource;
  /** In the newest release that wrote. */
  readonly newest: Resource;
  /** Matches bodies that may have another form. */
  readonly marks: RegExp;
}

/** Matches every body. */
const anything = /^/;

/** The forms of stored objects: that of the server's release, and that with the fields of all releases. */
export class StoredForms {
  /**
   * @param release that of the server.
   * @param record the releases that wrote to the store.
   * @param kindsOf returns the kinds of a release.
   */
  static async create(
    release: Release,
    record: ReleaseRecord,
    vocabulary: Vocabulary,
    kindsOf: (release: Release) => Promise<readonly Kind[]>,
  ): Promise<StoredForms> {
    const lastRelease = releases.at(-1)!;
    const isUnknown = isLater(record.newest, lastRelease);
    const releaseOf = (one: string): Release => releases.find((each) => each === one) ?? lastRelease;
    const [own, oldest, newest] = await Promise.all(
      [release, releaseOf(record.oldest), releaseOf(record.newest)].map(async (one) =>
        storedResources(await kindsOf(one), vocabulary),
      ),
    );
    const collections = new Map<string, Collection>();
    for (const [prefix, resource] of own!) {
      const later = newest!.get(prefix) ?? resource;
      const marks = isUnknown ? anything : marksOf(oldest!.get(prefix) ?? resource, resource, later);
      if (marks !== undefined) collections.set(prefix, { resource, newest: later, marks });
    }
    return new StoredForms(collections);
  }

  private constructor(private readonly collections: ReadonlyMap<string, Collection>) {}

  /** Whether the objects of a key's collection can have another form. */
  concerns(key: string): boolean {
    return this.find(key) !== undefined;
  }

  /** Whether an entry may have another form, judged by its bytes. */
  mayDiffer({ key, body }: Entry): boolean {
    return this.find(key)?.marks.test(asBuffer(body).toString("latin1")) ?? false;
  }

  /** Returns an entry in the form of the server's release; the same entry if it has this form, or can't be decoded in this release. */
  show(entry: Entry): Entry {
    const { resource } = this.find(entry.key)!;
    const { object, managed } = decodeLive(entry);
    removeUndeclared(resource.kind.type, object);
    const ordered = canonical(resource, object);
    if (ordered === undefined) return entry;
    const draft = encodeObject(resource, ordered, managed.stored ?? noManagedFieldsText);
    return sameContent(entry, draft) ? entry : entryWith(entry, draft);
  }

  /**
   * Returns the draft of an update with the fields of later releases that the stored object has, and their owners; undefined if it has none.
   *
   * @param next the new value of the entry.
   */
  complete(next: Entry, before: Entry): Draft | undefined {
    const { resource, newest } = this.find(next.key)!;
    const { type } = resource.kind;
    const live = decodeLive(before);
    if (!removeUndeclared(type, structuredClone(live.object))) return undefined;
    const { object, managed } = decodeLive(next);
    keepUndeclared(type, object, live.object);
    const owners = keepUndeclaredOwners(
      type,
      object,
      managed.stored ?? noManagedFieldsText,
      live.managed.stored ?? noManagedFieldsText,
    );
    const ordered = inOrder(newest.kind.type, object as JsonObject) as ApiObject;
    // Those of releases that the program doesn't know.
    keepUndeclared(newest.kind.type, ordered, object);
    return encodeObject(newest, object, owners, ordered);
  }

  private find(key: string): Collection | undefined {
    const inner = withoutKeyspace(key);
    return this.collections.get(inner.slice(0, inner.indexOf("/", inner.indexOf("/", 1) + 1) + 1));
  }
}

/** Returns an object as a request with it would be decoded; undefined if a member has another type in this release. */
function canonical({ kind }: Resource, object: ApiObject): ApiObject | undefined {
  try {
    return decode(kind.type, object).value as ApiObject;
  } catch (error) {
    if (error instanceof TypeFault) return undefined;
    throw error;
  }
}

/**
 * Returns the pattern of bodies that may have another form than that of a release; undefined if all have its form. Names of fields have
 * letters, digits and `-` only.
 */
function marksOf(oldest: Resource, own: Resource, newest: Resource): RegExp | undefined {
  const { later, parents } = releaseDifferences(own.kind.type, newest.kind.type);
  const { written } = releaseDifferences(oldest.kind.type, own.kind.type);
  const { later: removed } = releaseDifferences(own.kind.type, oldest.kind.type);
  const undeclared = [...later, ...removed];
  const marks = [
    ...(undeclared.length > 0 ? [`"(?:${undeclared.join("|")})":`] : []),
    // The metadata of the object itself begins with its version.
    ...(parents.size > 0 ? [`"(?:${[...parents].join("|")})":[[{](?!"resourceVersion")`] : []),
    ...(written.size > 0 ? [`"(?:${[...written].join("|")})":(?:null|""|0|false|\\{\\})`] : []),
  ];
  return marks.length === 0 ? undefined : new RegExp(marks.join("|"));
}

function storedResources(kinds: readonly Kind[], vocabulary: Vocabulary): ReadonlyMap<string, Resource> {
  const resources = kinds.map((kind) => resourceOf(kind, vocabulary)).filter(isStored);
  return new Map(resources.map(({ storePrefix, stored }) => [storePrefix, stored]));
}

/**
 * Returns managed fields with the owners of the members that a type doesn't declare, as they were before a write.
 *
 * @param object the object after the write, with these members.
 */
function keepUndeclaredOwners(
  type: Type,
  object: ApiObject,
  next: ManagedFieldsText,
  before: ManagedFieldsText,
): ManagedFieldsText {
  if (before.text === "" || before.text === next.text) return next;
  const entries = new Map<string, EntryText>();
  for (const entry of splitEntries(next)) entries.set(managerId(entry.manager), entry);
  let changed = false;
  for (const entry of splitEntries(before)) {
    const part = undeclaredPart(type, object, readFieldSet(entry.fields));
    if (part.isEmpty) continue;
    const id = managerId(entry.manager);
    const own = entries.get(id);
    const fields = own === undefined ? part : readFieldSet(own.fields).union(part);
    const text = fieldSetText(fields);
    if (own?.fields === text) continue;
    entries.set(id, { ...(own ?? entry), fields: text });
    changed = true;
  }
  return changed ? joinEntries(sortEntries([...entries.values()])) : next;
}

/**
 * Returns the paths of a set that lead to undeclared members which the value has.
 *
 * @param keys the keys of the items, for a list.
 */
function undeclaredPart(type: Type, value: unknown, set: FieldSet, keys: readonly string[] = []): FieldSet {
  if (set.children.size === 0 || value === undefined || value === null) return FieldSet.empty;
  const children = new Map<string, FieldSet>();
  const items = type.shape === "list" ? itemsByElement(value, keys) : undefined;
  for (const [element, below] of set.children) {
    const part =
      type.shape === "list"
        ? undeclaredPart(type.element, items!.get(element), below)
        : partBelow(type, value, element, below, keys);
    if (!part.isEmpty) children.set(element, part);
  }
  return FieldSet.of(false, children);
}

function partBelow(
  type: Exclude<Type, ListType>,
  value: unknown,
  element: string,
  set: FieldSet,
  keys: readonly string[],
): FieldSet {
  switch (type.shape) {
    case "scalar":
      return FieldSet.empty;
    case "union": {
      const form = formOf(type, value);
      const own = FieldSet.of(false, new Map([[element, set]]));
      return form === undefined ? FieldSet.empty : undeclaredPart(form.type, value, own, keys).below(element);
    }
    case "map":
      return undeclaredPart(type.value, memberAt(value, element), set);
    case "struct": {
      const name = element.slice(2);
      const member = memberAt(value, element);
      if (!Object.hasOwn(type.fields, name)) return member === undefined ? FieldSet.empty : set;
      const { type: below, facts } = type.fields[name]!;
      return undeclaredPart(below, member, set, facts.listMapKeys);
    }
  }
}

function memberAt(value: unknown, element: string): unknown {
  if (!element.startsWith("f:") || !isObject(value as JsonValue)) return undefined;
  const name = element.slice(2);
  return Object.hasOwn(value as object, name) ? (value as Record<string, unknown>)[name] : undefined;
}

/** Returns the items of a list by their path elements. */
function itemsByElement(value: unknown, keys: readonly string[]): ReadonlyMap<string, unknown> {
  const items = new Map<string, unknown>();
  if (keys.length === 0 || !Array.isArray(value)) return items;
  for (const item of value as unknown[]) {
    if (!isObject(item as JsonValue)) continue;
    const members = item as Record<string, unknown>;
    items.set(keyElement(Object.fromEntries(keys.map((name) => [name, members[name] ?? null]))), item);
  }
  return items;
}
