import { compareKeys } from "../../storage/keys.ts";
import type { Revision } from "../../storage/store.ts";
import { isWithin, type KeyRange } from "./key-set.ts";

/** How many changes are remembered at least, once there were so many. */
const remembered = 4096;

/** The keys that changed lately, and when. */
export class ChangedKeys {
  /** Every change after this revision is known. */
  since = 0 as Revision;
  /** In order of revision. */
  private changes: { readonly key: string; readonly revision: Revision }[] = [];

  add(key: string, revision: Revision): void {
    this.changes.push({ key, revision });
    if (this.changes.length < 2 * remembered) return;
    this.since = this.changes[remembered - 1]!.revision;
    this.changes = this.changes.slice(remembered);
  }

  /** Keys in order, with those of a range that changed after a revision. */
  join(keys: readonly string[], after: Revision, range: KeyRange): readonly string[] {
    const changes = this.changes;
    let from = changes.length;
    while (from > 0 && changes[from - 1]!.revision > after) from--;
    if (from === changes.length) return keys;
    const more = changes.slice(from).filter(({ key }) => isWithin(key, range));
    if (more.length === 0) return keys;
    return [...new Set([...keys, ...more.map(({ key }) => key)])].toSorted(compareKeys);
  }
}
