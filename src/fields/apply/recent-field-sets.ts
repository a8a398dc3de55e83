import { readFieldSet, type FieldSet } from "./field-set.ts";

const maxSets = 256;
/** Longer texts rarely belong to more than one object. */
const maxTextLength = 8192;

/** Caches decoded sets by their text, because many objects have the same set and every write decodes it. */
export class RecentFieldSets {
  private readonly sets = new Map<string, FieldSet>();

  /** Like {@link readFieldSet}; returns the cached set if there is one. */
  readonly read = (text: string): FieldSet => {
    let set = this.sets.get(text);
    if (set !== undefined) return set;
    set = readFieldSet(text);
    if (text.length > maxTextLength) return set;
    if (this.sets.size === maxSets) this.sets.delete(this.sets.keys().next().value!);
    this.sets.set(text, set);
    return set;
  };
}
