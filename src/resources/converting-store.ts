import { andThen, type MaybePromise } from "../base/maybe-promise.ts";
import { turnGiver } from "../base/turns.ts";
import type { JsonObject } from "../base/json/value.ts";
import { fillMembers } from "../schema/custom/fill.ts";
import type { ApiObject, ObjectConverter } from "../schema/kind.ts";
import type {
  CommitResult,
  Draft,
  Entry,
  RangeOptions,
  RangePage,
  Revision,
  Store,
  Write,
} from "../storage/store.ts";
import { convertAll } from "./converted-objects.ts";
import { checkSize } from "./object-size.ts";
import type { Resource } from "./registry.ts";
import { entryWith, StoreView } from "./store-view.ts";
import { asBuffer, decodeBody, encodeObject } from "./stored.ts";

/**
 * A store in which the objects of one custom kind are in one of its versions, whatever version they are stored in: they are
 * converted when they are read and when they are written. Subscriptions aren't: see `converted-watch.ts`.
 *
 * Reads fail with a StatusError where an object can't be converted.
 */
export class ConvertingStore extends StoreView {
  /** Entries that aren't stored in the present stored version, so that also a write of the same makes a difference. */
  private readonly outdated = new WeakSet<Entry>();

  constructor(
    inner: Store,
    private readonly resource: Resource,
    /** The resource type in the version in which objects are stored from now on. */
    private readonly stored: Resource,
    private readonly converter: ObjectConverter,
  ) {
    super(inner);
  }

  get(key: string, at?: Revision): MaybePromise<Entry | undefined> {
    const found = this.inner.get(key, at);
    if (!this.isConverted(key)) return found;
    return andThen(found, (entry) => (entry === undefined ? undefined : this.show(entry)));
  }

  range(options: RangeOptions): MaybePromise<RangePage> {
    const read = this.inner.range(options);
    if (!this.isConverted(options.prefix)) return read;
    return andThen(read, (page) =>
      andThen(this.showAll(page.entries), (entries) =>
        entries === page.entries ? page : { ...page, entries },
      ),
    );
  }

  /** Whether an entry that was read here is stored in another version than the one in which it would be stored now. */
  isOutdated(entry: Entry): boolean {
    return this.outdated.has(entry);
  }

  /** An entry in the version of this store: the same one where it is. */
  show(entry: Entry): MaybePromise<Entry> {
    return andThen(this.showAll([entry]), ([shown]) => shown!);
  }

  /** As {@link ConvertingStore.show}; the same array where all entries are in the version. */
  showAll(entries: readonly Entry[]): MaybePromise<readonly Entry[]> {
    if (!entries.some((entry) => !isIn(entry, this.stored) || this.stored !== this.resource)) return entries;
    for (const entry of entries) if (!isIn(entry, this.stored)) this.outdated.add(entry);
    return entries.every((entry) => isIn(entry, this.resource)) ? entries : this.convert(entries);
  }

  async commit(write: Write): Promise<CommitResult> {
    if (write.kind === "delete" || !this.isConverted(write.key) || this.stored === this.resource) {
      return this.inner.commit(write);
    }
    const { stored, shown } = await this.storedForm(write.draft);
    const result = await this.inner.commit({ ...write, draft: stored });
    return result.ok ? { ...result, entry: entryWith(result.entry, shown) } : result;
  }

  /**
   * A draft as it is stored, and as it is read from then on. Both are made before the write, so that no conversion can fail
   * once it has taken place.
   */
  private async storedForm(draft: Draft): Promise<{ readonly stored: Draft; readonly shown: Draft }> {
    const object = decodeBody(draft.body);
    // Its place is left empty in a draft.
    delete object.metadata.resourceVersion;
    const written = await this.inVersion([object], this.stored);
    const stored = encodeObject(this.stored, written[0]!);
    checkSize(stored);
    const [read] = await this.inVersion([decodeBody(stored.body)], this.resource);
    return { stored, shown: encodeObject(this.resource, read!) };
  }

  private async convert(entries: readonly Entry[]): Promise<readonly Entry[]> {
    const giveTurn = turnGiver();
    const objects = [];
    for (const entry of entries) {
      objects.push(decodeBody(entry.body));
      await giveTurn();
    }
    const converted = await this.inVersion(objects, this.resource);
    const shown: Entry[] = [];
    for (const [index, entry] of entries.entries()) {
      const one = isIn(entry, this.resource)
        ? entry
        : entryWith(entry, encodeObject(this.resource, converted[index]!));
      if (this.outdated.has(entry)) this.outdated.add(one);
      shown.push(one);
      await giveTurn();
    }
    return shown;
  }

  /** Objects in a version, with its defaults. */
  private async inVersion(objects: readonly ApiObject[], resource: Resource): Promise<readonly ApiObject[]> {
    const converted = await convertAll(this.converter, objects, resource);
    const { open } = resource.kind.type;
    if (open !== undefined) {
      // A write that gets too large is refused by its size; what is read stays readable.
      for (const object of converted) void fillMembers(open, object as unknown as JsonObject);
    }
    return converted;
  }

  private isConverted(key: string): boolean {
    return key.startsWith(this.resource.storePrefix);
  }
}

/** Whether an entry is in the version of a resource type, by the first bytes of its body. */
function isIn({ body }: Entry, { bodyPrefix }: Resource): boolean {
  const { length } = bodyPrefix;
  return body.length >= length && bodyPrefix.compare(asBuffer(body), 0, length) === 0;
}
