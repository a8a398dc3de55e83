import { isLater } from "../../base/releases.ts";
import { kindsOfRelease } from "../../kinds/kinds-of-release.ts";
import {
  isReferenceOnly,
  readReleaseRecord,
  recordRelease,
  type ReleaseRecord,
} from "../../resources/releases/release-record.ts";
import type { Store } from "../../storage/store.ts";
import type { ServerOptions } from "../options/server-options.ts";
import type { OpenStore } from "./open-store.ts";
import { startWriting, type StartWrite } from "./start-writes.ts";

/** A store as the release of the server knows it. */
interface StoreInRelease {
  /** The same store if only this release wrote to it. */
  readonly store: Store;
  /** The record of the release, which may be written in the background; undefined if none is needed. */
  readonly recording: StartWrite | undefined;
}

/**
 * Reads which releases wrote to a store; undefined for one in memory, which needs no record. It must be read before the server writes
 * anything.
 *
 * @throws {StoreError}
 */
export async function storedReleases(
  { release }: ServerOptions,
  { store, memory }: Pick<OpenStore, "store" | "memory">,
): Promise<ReleaseRecord | undefined> {
  return memory === undefined ? readReleaseRecord(store, release) : undefined;
}

/**
 * Returns the store as the release of the server knows it, and records the release in it. A store in which only the reference release
 * wrote has no record.
 *
 * @param record the result of {@link storedReleases}.
 * @throws {StoreError}
 */
export async function storeInRelease(
  options: ServerOptions,
  store: Store,
  record: ReleaseRecord | undefined,
): Promise<StoreInRelease> {
  const { release } = options;
  if (record === undefined || isReferenceOnly(record, release)) return { store, recording: undefined };
  const recording = await startWriting(() => recordRelease(store, release, record), {
    ...options,
    subject: "the record of its release",
  });
  return { store: await inRelease(options, store, record), recording };
}

async function inRelease(
  { release, vocabulary, log }: ServerOptions,
  store: Store,
  record: ReleaseRecord,
): Promise<Store> {
  const { oldest, newest } = record;
  if (oldest === release && newest === release) return store;
  if (isLater(newest, release))
    log.info(
      { newest, release },
      "a later release wrote objects: its fields are hidden, and kept by updates",
    );
  const [{ ReleaseStore }, { StoredForms }] = await Promise.all([
    import("../../resources/releases/release-store.ts"),
    import("../../resources/releases/stored-forms.ts"),
  ]);
  return new ReleaseStore(store, await StoredForms.create(release, record, vocabulary, kindsOfRelease));
}
