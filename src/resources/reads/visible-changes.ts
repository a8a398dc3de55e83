import type { EnumeratedView } from "../objects/object-view.ts";
import { namesOf } from "../registry/registry.ts";
import type { WatchChange } from "../registry/watch-change.ts";

const none: readonly WatchChange[] = [];

/** The results of one list of changes. */
interface Results {
  readonly byView: Map<EnumeratedView, readonly WatchChange[]>;
  /** By the positions of the visible changes. */
  readonly byPositions: Map<string, readonly WatchChange[]>;
}

const shared = new WeakMap<readonly WatchChange[], Results>();

/**
 * Returns the changes of the objects that a view has. Views with the same visible changes get the same array, so that their encodings
 * are shared; if everything is visible, it is the array of the watches without a view.
 */
export function visibleChanges(
  changes: readonly WatchChange[],
  view: EnumeratedView,
): readonly WatchChange[] {
  if (changes.length === 0) return none;
  if (changes.length === 1) return isVisible(changes[0]!, view) ? changes : none;
  let results = shared.get(changes);
  if (results === undefined) shared.set(changes, (results = { byView: new Map(), byPositions: new Map() }));
  let visible = results.byView.get(view);
  if (visible === undefined) results.byView.set(view, (visible = choose(changes, view, results)));
  return visible;
}

function choose(
  changes: readonly WatchChange[],
  view: EnumeratedView,
  { byPositions }: Results,
): readonly WatchChange[] {
  const chosen: WatchChange[] = [];
  const positions: number[] = [];
  for (const [position, change] of changes.entries()) {
    if (!isVisible(change, view)) continue;
    chosen.push(change);
    positions.push(position);
  }
  if (chosen.length === changes.length) return changes;
  if (chosen.length === 0) return none;
  const key = positions.join();
  const same = byPositions.get(key);
  if (same === undefined) byPositions.set(key, chosen);
  return same ?? chosen;
}

export function isVisible({ event: { key } }: WatchChange, view: EnumeratedView): boolean {
  const { namespace, name } = namesOf(key);
  return view.allows(namespace, name);
}
