import type { Resource } from "../../resources/registry/registry.ts";
import type { ListEnd, ListedPage } from "../../resources/reads/list.ts";

/** A way to write objects and lists. An encoding is bound to one resource type. */
export interface Encoding {
  /** Two encodings with the same key write the same bytes, so what one wrote may be handed out by the other. */
  readonly key: string;
  readonly contentType: string;
  /** The encoding that shows the same in JSON; absent where this one is JSON. */
  readonly inJson?: Encoding;
  /** Whether what {@link object} wrote is worth keeping: it follows from the stored bytes alone, and takes longer than to send it. */
  readonly isKept?: true;
  /** One object, from its stored bytes. */
  object(body: Uint8Array): Uint8Array;
  list(): ListWriter;
}

/** A way to write watch frames. */
export interface WatchFrames {
  /** As an {@link Encoding}'s. */
  readonly key: string;
  /** One watch frame: an event type and an object's stored bytes. */
  frame(type: string, body: Uint8Array): Uint8Array;
  /** The watch frame that says how far the watcher has come. */
  bookmark(revision: string): Uint8Array;
}

/** A way to write watch frames too. */
export interface WatchEncoding extends Encoding, WatchFrames {
  /** Content type of a watch. */
  readonly watchContentType: string;
  /** How the frames after a watch's first are written, where the first alone says what holds for all. */
  readonly later?: WatchFrames;
  /** The watch frame that says why the watch ends. */
  error(status: object): Uint8Array;
}

/** Whether an encoding has a form for watches. */
export function writesFrames(encoding: Encoding): encoding is WatchEncoding {
  return "frame" in encoding;
}

/** Writes one list, page by page. */
export interface ListWriter {
  /**
   * The bytes of a page, to be sent one after the other; the first call also gives what stands before it. They may be made
   * as they are asked for, which takes less than a millisecond each: whoever asks gives others their turn in between, and
   * asks for the next page only after the last of them.
   */
  page(page: ListedPage): Iterable<Uint8Array>;
  /** What stands behind the last page, with the list's metadata. */
  end(end: ListEnd): Uint8Array;
  /**
   * Where the form says the length of the list before its content: what stands around as many bytes of pages and end.
   * The list must be read twice unless it is small: once to learn its length, once to send it.
   */
  around?(length: number): { readonly head: Uint8Array; readonly tail: Uint8Array };
}

/**
 * The metadata of a list as clients expect it.
 *
 * @param whole whether a token that is empty is written too, as lists of custom kinds have it.
 */
export function listMeta(
  { revision, continueToken, remaining }: ListEnd,
  whole = false,
): Record<string, unknown> {
  return {
    // What is worked out for the question has no version.
    ...(revision === 0 ? {} : { resourceVersion: String(revision) }),
    ...(continueToken === "" && !whole ? {} : { continue: continueToken }),
    ...(remaining === undefined ? {} : { remainingItemCount: remaining }),
  };
}

/** The kind of a resource type's collection. */
export function listKind(resource: Resource): string {
  return resource.kind.custom?.listKind ?? `${resource.kind.name}List`;
}
