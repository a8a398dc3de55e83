import type { Clock } from "../../base/time/clock.ts";
import { parseTime, Timestamps } from "../../base/time/timestamps.ts";
import { createYielder } from "../../base/turns/yielding.ts";
import type { Workspace } from "../../kinds/tenancy/workspace.ts";
import { decodeEntry, encodeObject, uidOf } from "../../resources/objects/stored.ts";
import { keyOf, type Resource } from "../../resources/registry/registry.ts";
import { isMarker } from "../../storage/derived/hidden-keys.ts";
import { keyspace } from "../../storage/keyspaces/keyspace-store.ts";
import { pagesOf } from "../../storage/range-pages.ts";
import type { Store } from "../../storage/store.ts";

const pageKeys = 500;
const pageBytes = 1024 * 1024;
/** Attempts while others write the object of the workspace. */
const attempts = 5;

/** The objects that a workspace has of its own. */
interface OwnObjects {
  readonly objects: number;
  readonly bytes: number;
}

/** Records in the status of a workspace what it has of its own, and when it was used. */
export class WorkspaceUsage {
  private readonly times: Timestamps;

  /** @param root the store of the server. */
  constructor(
    private readonly root: Store,
    private readonly resource: Resource,
    private readonly clock: Clock,
  ) {
    this.times = new Timestamps(clock);
  }

  /**
   * Updates the status of a workspace, unless it was deleted meanwhile. Its objects are counted, which reads them, if they weren't before
   * or may have changed since.
   *
   * @param unusedMs time since its last use.
   * @throws {StoreError}
   */
  async record(
    name: string,
    uid: string,
    { unusedMs, isChanged }: { readonly unusedMs: number; readonly isChanged: boolean },
  ): Promise<void> {
    const used = this.clock.now() - unusedMs;
    let own: OwnObjects | undefined;
    const key = keyOf(this.resource, "", name);
    for (let attempt = 0; attempt < attempts; attempt++) {
      const entry = await this.root.get(key);
      if (entry === undefined || uidOf(entry) !== uid) return;
      const workspace = decodeEntry(entry) as Workspace;
      const { deletionTimestamp } = workspace.metadata;
      const { lastUsedTime } = workspace.status ?? {};
      if (deletionTimestamp !== undefined) return;
      if (isChanged || workspace.status?.objects === undefined) own ??= await this.ownObjects(uid);
      // Another process may have served it later.
      const time = lastUsedTime && parseTime(lastUsedTime)! > used ? lastUsedTime : this.times.at(used);
      const status = { ...workspace.status, ...own, lastUsedTime: time };
      const draft = encodeObject(this.resource, { ...workspace, status } as Workspace);
      if ((await this.root.commit({ kind: "update", key, expected: entry.revision, draft })).ok) return;
    }
  }

  private async ownObjects(uid: string): Promise<OwnObjects> {
    const yieldIfDue = createYielder();
    let objects = 0;
    let bytes = 0;
    const pages = { prefix: "/", limit: pageKeys, maxBytes: pageBytes };
    for await (const { entries } of pagesOf(keyspace(this.root, uid), pages)) {
      for (const { key, header, body } of entries) {
        bytes += header.length + body.length;
        if (!isMarker(key)) objects++;
      }
      await yieldIfDue();
    }
    return { objects, bytes };
  }
}
