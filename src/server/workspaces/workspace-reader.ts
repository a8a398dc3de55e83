import { RecentMap } from "../../base/collections/recent-map.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { dnsLabelFaults } from "../../base/names.ts";
import type { Workspace } from "../../kinds/tenancy/workspace.ts";
import { decodeEntry } from "../../resources/objects/stored.ts";
import { keyOf, type Resource } from "../../resources/registry/registry.ts";
import type { Revision, Store } from "../../storage/store.ts";

/** Decoded objects that are kept. */
const maxDecoded = 1000;

/** Reads workspaces by name, as they are at present. */
export class WorkspaceReader {
  private readonly decoded = new RecentMap<{ readonly revision: Revision; readonly workspace: Workspace }>({
    entries: maxDecoded,
    cost: 0,
  });

  constructor(
    private readonly store: Store,
    readonly resource: Resource,
  ) {}

  /** Returns a workspace; undefined if there is none of the name, which may be any text. */
  find(name: string): MaybePromise<Workspace | undefined> {
    if (dnsLabelFaults(name).length > 0) return undefined;
    return andThen(this.store.get(keyOf(this.resource, "", name)), (entry) => {
      if (entry === undefined) return undefined;
      const before = this.decoded.get(name);
      if (before?.revision === entry.revision) return before.workspace;
      const workspace = decodeEntry(entry) as Workspace;
      this.decoded.set(name, { revision: entry.revision, workspace });
      return workspace;
    });
  }
}
