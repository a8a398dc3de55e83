import { defaultRelease, isLater } from "../../base/releases.ts";
import { decodeBody } from "../objects/stored.ts";
import type { Entry, Store, Write } from "../../storage/store.ts";

/** Key of the releases that wrote to a store; no resource type has its prefix. */
const recordKey = "/core/releases//written";

/** The releases that wrote to a store. */
export interface ReleaseRecord {
  readonly oldest: string;
  readonly newest: string;
}

/** The record of a store in which only the reference release wrote. */
const referenceOnly: ReleaseRecord = { oldest: defaultRelease, newest: defaultRelease };

/**
 * Reads which releases wrote to a store. The reference release writes no record before a later one did.
 *
 * @param release that of the reader; the result for a new store.
 * @throws {StoreError}
 */
export async function readReleaseRecord(
  store: Pick<Store, "get" | "range">,
  release: string,
): Promise<ReleaseRecord> {
  const recorded = recordIn(await store.get(recordKey));
  if (recorded !== undefined || release === defaultRelease) return recorded ?? referenceOnly;
  return (await isEmpty(store)) ? { oldest: release, newest: release } : referenceOnly;
}

function recordIn(entry: Entry | undefined): ReleaseRecord | undefined {
  if (entry === undefined) return undefined;
  const { oldest, newest } = decodeBody(entry.body) as { oldest?: unknown; newest?: unknown };
  return typeof oldest === "string" && typeof newest === "string" ? { oldest, newest } : undefined;
}

/** Whether no release but the reference release wrote to a store and `release` is it, so that the store needs no record. */
export function isReferenceOnly(record: ReleaseRecord, release: string): boolean {
  return release === defaultRelease && isEqual(record, referenceOnly);
}

/**
 * Records that a release writes to a store.
 *
 * @param before the record of {@link readReleaseRecord} before this server wrote anything.
 * @throws {StoreError}
 */
export async function recordRelease(
  store: Pick<Store, "get" | "commit">,
  release: string,
  before: ReleaseRecord,
): Promise<void> {
  for (;;) {
    const entry = await store.get(recordKey);
    const recorded = recordIn(entry);
    const { oldest, newest } = recorded ?? before;
    const record = {
      oldest: isLater(oldest, release) ? release : oldest,
      newest: isLater(release, newest) ? release : newest,
    };
    if (isEqual(recorded ?? referenceOnly, record)) return;
    const result = await store.commit(writeOf(entry, record));
    if (result.ok) return;
  }
}

function writeOf(entry: Entry | undefined, record: ReleaseRecord): Write {
  const head = `${JSON.stringify(record).slice(0, -1)},"revision":"`;
  const draft = {
    header: Buffer.from("{}"),
    body: Buffer.from(`${head}"}`),
    revisionAt: Buffer.byteLength(head),
  };
  const key = recordKey;
  return entry === undefined
    ? { kind: "create", key, draft }
    : { kind: "update", key, expected: entry.revision, draft };
}

function isEqual(one: ReleaseRecord, other: ReleaseRecord): boolean {
  return one.oldest === other.oldest && one.newest === other.newest;
}

async function isEmpty(store: Pick<Store, "range">): Promise<boolean> {
  const { entries } = await store.range({ prefix: "/", limit: 1 });
  return entries.length === 0;
}
