import { createYielder } from "../../base/turns/yielding.ts";
import type { Entry } from "../../storage/store.ts";
import type { ObjectView } from "../objects/object-view.ts";
import type { Selection } from "../objects/selection.ts";
import type { CollectionPage } from "../pages/page-cache.ts";
import type { PagePart } from "../pages/page-forms.ts";
import { namesOf } from "../registry/registry.ts";

/** The progress of a list with a view. */
export interface VisibleProgress {
  after: string | undefined;
  sent: string | undefined;
  selected: number;
  /** Whether the response is complete. */
  done: boolean;
  /** Whether a further visible object follows. */
  more: boolean;
}

/**
 * Chooses the selected and visible entries of a page. After the limit it searches for one more visible object, so that a list has a
 * continue token only if visible objects follow. A page without hidden entries is returned with its cached forms, another one as a part
 * of the cached page.
 */
export async function chooseVisible(
  page: CollectionPage,
  view: ObjectView,
  options: {
    readonly limit: number;
    readonly selection: Selection;
    readonly pause?: (() => Promise<void>) | undefined;
  },
  progress: VisibleProgress,
): Promise<CollectionPage & { readonly part?: PagePart | undefined }> {
  const { limit, selection, pause } = options;
  const yieldIfDue = createYielder(pause);
  const entries: Entry[] = [];
  const positions: number[] = [];
  progress.done = !page.more;
  progress.after = page.entries.at(-1)?.key ?? progress.after;
  for (const [index, entry] of page.entries.entries()) {
    if (index % entriesPerStep === 0) await yieldIfDue();
    if (!selection.matches(entry)) continue;
    const { namespace, name } = namesOf(entry.key);
    const allowed = view.allows(namespace, name);
    if (!(allowed instanceof Promise ? await allowed : allowed)) continue;
    if (limit > 0 && progress.selected === limit) {
      progress.more = true;
      progress.done = true;
      break;
    }
    entries.push(entry);
    positions.push(index);
    progress.selected++;
    progress.sent = entry.key;
  }
  const part = partOf(page, positions);
  if (entries.length === page.entries.length) return part === undefined ? page : { ...page, part };
  return { revision: page.revision, entries, joined: undefined, more: page.more, part };
}

/** @param positions indexes in the entries of the page. */
function partOf({ segment }: CollectionPage, positions: readonly number[]): PagePart | undefined {
  if (segment === undefined || positions.length === segment.entries.length) return undefined;
  const { entries, forms, from } = segment;
  return { entries, forms, positions: from === 0 ? positions : positions.map((index) => from + index) };
}

/** Entries that are checked between two looks at the time. */
const entriesPerStep = 64;
