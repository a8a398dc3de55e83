import BTreeModule from "sorted-btree";

// The package is CommonJS: in Node its default export is a property `default` of the import, in a bundler it isn't.
const imported: unknown = BTreeModule;

/** A map sorted by key (a B+ tree). */
export const SortedMap =
  typeof imported === "function" ? (imported as typeof BTreeModule.default) : BTreeModule.default;

/** See {@link SortedMap}. */
export type SortedMap<K, V> = BTreeModule.default<K, V>;
