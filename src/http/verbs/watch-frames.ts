import { createYielder } from "../../base/turns/yielding.ts";
import type { ListedPage } from "../../resources/reads/list.ts";
import { bodyOf, type WatchChange } from "../../resources/reads/watch.ts";
import { portions } from "../encodings/chunks.ts";
import type { WatchFrames } from "../encodings/encoding.ts";
import { sliceBytes } from "../transport/sliced-sink.ts";

/** Encodes events. */
type EventFrames = Pick<WatchFrames, "key" | "varies" | "frame">;

/** The frames of a page of the initial state, in parts that are written at a time. */
interface InitialEvents {
  readonly parts: readonly Uint8Array[];
  readonly bytes: number;
}

/**
 * Encodes the entries of a page as ADDED events; pauses between portions. The frames are cached with the page unless they vary.
 *
 * @param later encoding of the frames after the first one, if they differ.
 */
export async function initialEvents(
  { entries, forms }: ListedPage,
  first: EventFrames,
  later: EventFrames | undefined,
  pause: () => Promise<void>,
): Promise<readonly Uint8Array[]> {
  if (first.varies === true) return (await encodeEntries(entries, first, later, pause)).parts;
  const key = `initial events ${first.key}`;
  let page = forms?.get(key) as InitialEvents | undefined;
  if (page === undefined) {
    page = await encodeEntries(entries, first, later, pause);
    forms?.keep(key, page);
  }
  return page.parts;
}

async function encodeEntries(
  entries: ListedPage["entries"],
  first: EventFrames,
  later: EventFrames | undefined,
  pause: () => Promise<void>,
): Promise<InitialEvents> {
  const yieldIfDue = createYielder(pause);
  const parts: Uint8Array[] = [];
  let joined: Uint8Array[] = [];
  let joinedBytes = 0;
  let bytes = 0;
  let encoding = first;
  const join = () => {
    if (joined.length > 0) parts.push(joined.length === 1 ? joined[0]! : Buffer.concat(joined));
    joined = [];
    joinedBytes = 0;
  };
  for (const portion of portions(entries)) {
    const events = portion.map(({ body }) => ({ type: "ADDED", body }));
    const frames = encodeFrames(events, encoding, later);
    encoding = later ?? first;
    // A write for each portion would cost more than its encoding.
    if (joinedBytes + frames.length > sliceBytes) join();
    joined.push(frames);
    joinedBytes += frames.length;
    bytes += frames.length;
    await yieldIfDue();
  }
  join();
  return { parts, bytes };
}

const framesByBatch = new WeakMap<readonly WatchChange[], Map<string, Uint8Array>>();

/** Returns the frames of a batch of changes; watches with the same batch and key share them. */
export function sharedFrames(
  changes: readonly WatchChange[],
  key: string,
  encode: () => Uint8Array,
): Uint8Array {
  let framesByKey = framesByBatch.get(changes);
  if (framesByKey === undefined) framesByBatch.set(changes, (framesByKey = new Map()));
  let frames = framesByKey.get(key);
  if (frames === undefined) framesByKey.set(key, (frames = encode()));
  return frames;
}

/** Returns the frames of a batch of changes; watches with the same batch and encoding share them. */
export function framesOf(
  changes: readonly WatchChange[],
  first: WatchFrames,
  later: WatchFrames | undefined,
): Uint8Array {
  return sharedFrames(changes, first.key, () =>
    encodeFrames(
      changes.map((change) => ({ type: change.type, body: bodyOf(change) })),
      first,
      later,
    ),
  );
}

/** Encodes events as frames; the first frame may need another encoding than the later ones. */
function encodeFrames(
  events: readonly { readonly type: string; readonly body: Uint8Array }[],
  first: EventFrames,
  later: EventFrames = first,
): Uint8Array {
  const parts = events.map(({ type, body }, index) => (index === 0 ? first : later).frame(type, body));
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}
