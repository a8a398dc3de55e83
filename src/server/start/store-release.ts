import { isLater } from "../../base/releases.ts";
import { kindsOfRelease } from "../../kinds/kinds-of-release.ts";
import {
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
 * Returns the store as the release of the server knows it, and records the release in it. A store in which only the reference release
 * wrote has no record; one in memory needs none.
 *
 * @throws {StoreError}
 */
export async function storeInRelease(
  options: ServerOptions,
  { store, memory }: Pick<OpenStore, "store" | "memory">,
): Promise<StoreInRelease> {
  const { release } = options;
  if (memory !== undefined) return { store, recording: undefined };
  const record = await readReleaseRecord(store, release);
  const recording = await startWriting(() => recordRelease(store, release), {
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
