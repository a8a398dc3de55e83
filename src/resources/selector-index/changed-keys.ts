import { compareKeys } from "../../storage/keys.ts";
import type { Revision } from "../../storage/store.ts";
import { isWithin, type KeyRange } from "./key-set.ts";

/** Minimum number of changes that remain when old ones are dropped. */
const keptChanges = 4096;

/** The recently changed keys and their revisions. */
export class ChangedKeys {
  /** Has every change after this revision. */
  since = 0 as Revision;
  /** In order of revision. */
  private changes: { readonly key: string; readonly revision: Revision }[] = [];

  add(key: string, revision: Revision): void {
    this.changes.push({ key, revision });
    if (this.changes.length < 2 * keptChanges) return;
    this.since = this.changes[keptChanges - 1]!.revision;
    this.changes = this.changes.slice(keptChanges);
  }

  /** Adds to sorted keys those of a range that changed after a revision. */
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
