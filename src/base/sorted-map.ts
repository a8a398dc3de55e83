import BTreeModule from "sorted-btree";

// The package is CommonJS: Node puts its default export one level down, a bundler doesn't.
const imported: unknown = BTreeModule;

/** A map that iterates in the order of its keys. */
export const SortedMap =
  typeof imported === "function" ? (imported as typeof BTreeModule.default) : BTreeModule.default;

/** See {@link SortedMap}. */
export type SortedMap<K, V> = BTreeModule.default<K, V>;
