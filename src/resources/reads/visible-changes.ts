import type { EnumeratedView } from "../objects/object-view.ts";
import { namesOf } from "../registry/registry.ts";
import type { WatchChange } from "../registry/watch-change.ts";

const none: readonly WatchChange[] = [];

interface Names {
  readonly namespace: string;
  readonly name: string;
}

/** What views of one list of changes share. */
interface SharedChanges {
  /** The names of each changed object. */
  readonly names: readonly Names[];
  readonly byView: Map<EnumeratedView, readonly WatchChange[]>;
  /** By the positions of the visible changes. */
  readonly byPositions: Map<string, readonly WatchChange[]>;
}

const shared = new WeakMap<readonly WatchChange[], SharedChanges>();

/**
 * Returns the changes of the objects that a view has. Views with the same visible changes get the same array, so that their encodings
 * are shared; if everything is visible, it is the array of the watches without a view.
 */
export function visibleChanges(
  changes: readonly WatchChange[],
  view: EnumeratedView,
): readonly WatchChange[] {
  if (changes.length === 0) return none;
  if (view.everything) return changes;
  let cached = shared.get(changes);
  if (cached === undefined) {
    const names = changes.map(({ event }) => namesOf(event.key));
    shared.set(changes, (cached = { names, byView: new Map(), byPositions: new Map() }));
  }
  if (changes.length === 1) return isIn(view, cached.names[0]!) ? changes : none;
  let visible = cached.byView.get(view);
  if (visible === undefined) cached.byView.set(view, (visible = choose(changes, view, cached)));
  return visible;
}

function choose(
  changes: readonly WatchChange[],
  view: EnumeratedView,
  { names, byPositions }: SharedChanges,
): readonly WatchChange[] {
  if (names.every((one) => isIn(view, one))) return changes;
  const positions: number[] = [];
  for (const [position, one] of names.entries()) if (isIn(view, one)) positions.push(position);
  if (positions.length === 0) return none;
  const key = positions.join();
  let chosen = byPositions.get(key);
  if (chosen === undefined) byPositions.set(key, (chosen = positions.map((position) => changes[position]!)));
  return chosen;
}

function isIn(view: EnumeratedView, { namespace, name }: Names): boolean {
  return view.allows(namespace, name);
}

export function isVisible({ event: { key } }: WatchChange, view: EnumeratedView): boolean {
  return isIn(view, namesOf(key));
}
