import { isLater, releases, type Release } from "../../base/releases.ts";
import type { JsonObject } from "../../base/json/value.ts";
import { noManagedFieldsText } from "../../fields/apply/managed-fields-text.ts";
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
import { keepUndeclaredOwners } from "./undeclared-owners.ts";

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
    return this.collections.get(key.slice(0, key.indexOf("/", key.indexOf("/", 1) + 1) + 1));
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
