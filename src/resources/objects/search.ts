import { namesOf } from "../registry/registry.ts";
import type { Entry } from "../../storage/store.ts";
import type { HeaderReader, Selection, SelectionTerm } from "./selection.ts";
import { headerOf } from "./stored.ts";

/**
 * Limits a selection to the objects with a text in their name or in a label, written as `key=value`. Upper and lower case are the same.
 */
export class SearchSelection implements Selection {
  readonly everything = false;
  readonly name: string | undefined;
  readonly text: string;
  readonly terms: readonly SelectionTerm[];
  readonly shard: string | undefined;
  private readonly needle: string;

  constructor(
    private readonly inner: Selection,
    search: string,
  ) {
    this.name = inner.name;
    this.terms = inner.terms;
    this.shard = inner.shard;
    this.needle = search.toLowerCase();
    this.text = JSON.stringify([inner.text, this.needle]);
  }

  matches(entry: Entry, read?: HeaderReader): boolean {
    if (!this.inner.matches(entry, read)) return false;
    if (this.isIn(namesOf(entry.key).name)) return true;
    const { labels } = (read ?? headerOf)(entry);
    for (const key in labels) if (this.isIn(`${key}=${labels[key]!}`)) return true;

    return false;
  }

  private isIn(text: string): boolean {
    return text.toLowerCase().includes(this.needle);
  }
}
