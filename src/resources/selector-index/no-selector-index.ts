import type { SelectorIndex } from "./selector-index.ts";

/** No indexes for selectors: lists read the collection. */
export const noSelectorIndex: Pick<
  SelectorIndex,
  "find" | "scanned" | "expectsIndex" | "counters" | "close"
> = {
  find: () => undefined,
  scanned: () => undefined,
  expectsIndex: () => false,
  counters: { fromIndex: 0, scanned: 0, indexes: 0, bytes: 0, tooLarge: 0 },
  close: () => Promise.resolve(),
};
