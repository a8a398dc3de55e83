import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";

interface FoldProps<T> {
  readonly items: readonly T[];
  /** Number of items that are shown at first. */
  readonly limit?: number;
  /** What the items are, in the plural. */
  readonly noun: string;
  readonly children: (visible: readonly T[]) => ComponentChildren;
}

/** Shows the first items of a long list, and the others when asked. */
export function Fold<T>({ items, limit = 10, noun, children }: FoldProps<T>) {
  const isOpen = useSignal(false);
  return (
    <>
      {children(isOpen.value ? items : items.slice(0, limit))}
      {items.length > limit && (
        <button type="button" class="link fold" onClick={() => (isOpen.value = !isOpen.value)}>
          {isOpen.value ? `Show ${limit} ${noun}` : `Show all ${items.length} ${noun}`}
        </button>
      )}
    </>
  );
}
