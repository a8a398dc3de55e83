import { turnPrefix } from "../../admission/plugins/resource-quota/quota-turns.ts";
import { sameContent, uidOf } from "../../resources/objects/stored.ts";
import { draftOf } from "../../storage/entry.ts";
import type { Difference, MemoryImage } from "../../storage/memory/memory-image.ts";
import type { MemoryChange, MemoryStore } from "../../storage/memory/memory-store.ts";
import type { OwnKeys } from "../listening/own-keys.ts";
import type { SnapshotFamily } from "../start/opened.ts";
import { OptionsError } from "../options/options-error.ts";

/**
 * All objects of a server at one time; see {@link ServerTools.snapshot}. It takes little memory, and stays usable after its server is closed.
 *
 * @example
 * const before = server.snapshot();
 * await server.client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "team-a" } });
 * await server.restore(before);
 */
export interface Snapshot {
  /** The resource version of the newest write that the snapshot includes. */
  readonly resourceVersion: string;
}

/**
 * The dependencies of {@link Snapshots}.
 *
 * @internal
 */
interface SnapshotSetup {
  /** Undefined if the server has another storage engine. */
  readonly store: MemoryStore | undefined;
  readonly family: SnapshotFamily;
  /** Keys whose values describe the server itself; snapshots of other servers don't change them. */
  readonly own: OwnKeys;
}

/**
 * The snapshots of a server.
 *
 * @internal
 */
export class Snapshots {
  /** The state after the start. */
  private initial: Snapshot | undefined;

  constructor(private readonly setup: SnapshotSetup) {}

  get family(): SnapshotFamily {
    return this.setup.family;
  }

  /** Records the state to which {@link reset} returns. Does nothing with another storage engine. */
  started(): void {
    if (this.setup.store !== undefined) this.initial = this.take();
  }

  /** See {@link ServerTools.snapshot}. */
  take(): Snapshot {
    const image = this.store().image();
    const snapshot = Object.freeze({ resourceVersion: String(image.revision) });
    this.family.set(snapshot, { image, owner: this });
    return snapshot;
  }

  /** Returns the objects for a fork, and the keys that a fork has to delete. */
  forFork(): { readonly image: MemoryImage; readonly deletedKeys: readonly string[] } {
    const store = this.store();
    return { image: store.image(), deletedKeys: this.setup.own.recreatedIn(store) };
  }

  /** See {@link ServerTools.restore}. */
  restore(snapshot: Snapshot): void {
    const store = this.store();
    const content = this.family.get(snapshot);
    if (content === undefined)
      throw new TypeError(
        "restore: the argument must be a result of snapshot() of this server, of one of its forks, or of its origin",
      );
    const { image, owner } = content;
    const changes: MemoryChange[] = [];
    for (const difference of store.differences(image)) {
      const { key } = difference;
      if (key.startsWith(turnPrefix) || (owner !== this && this.setup.own.has(key))) continue;
      changes.push(...changesOf(difference));
    }
    store.commitAll([...this.lostTurns(store), ...changes]);
  }

  /** See {@link ServerTools.reset}. */
  reset(): void {
    this.store();
    if (this.initial === undefined) throw new Error("reset: the server has not started yet");
    this.restore(this.initial);
  }

  /** Deletes the turns of quotas: a write that was admitted with the usage before the restore is then admitted again. */
  private lostTurns(store: MemoryStore): MemoryChange[] {
    const { entries } = store.range({ prefix: turnPrefix });
    return entries.map(({ key }) => ({ key, draft: undefined }));
  }

  private store(): MemoryStore {
    const { store } = this.setup;
    if (store !== undefined) return store;
    throw new OptionsError(
      'storage: snapshot, restore, fork and reset need the engine "memory" (the default); this server has another storage',
    );
  }
}

/** Returns the writes that give a key its desired value. An object with another uid is deleted first, as it is another object. */
function changesOf({ key, current, desired }: Difference): MemoryChange[] {
  if (desired === undefined) return [{ key, draft: undefined }];
  const draft = draftOf(desired);
  const written = { key, draft };
  if (current === undefined) return [written];
  if (sameContent(current, draft)) return [];
  return uidOf(current) === uidOf(desired) ? [written] : [{ key, draft: undefined }, written];
}
