import type { Resource } from "../../resources/registry/registry.ts";
import type { ListEnd, ListedPage } from "../../resources/reads/list.ts";

/** Encodes objects and lists of one resource type. */
export interface Encoding {
  /** Encodings with equal keys write equal bytes, so they can share results. */
  readonly key: string;
  readonly contentType: string;
  /** The JSON encoding of the same view; absent if this one is JSON. */
  readonly inJson?: Encoding;
  /**
   * Whether results of {@link object} are cached: they depend on the stored bytes only, and encoding takes longer than
   * sending.
   */
  readonly isCacheable?: true;
  /** Encodes an object from its stored bytes. */
  object(body: Uint8Array): Uint8Array;
  list(): ListWriter;
}

/** The metadata of a bookmark's object. */
export interface BookmarkMetadata {
  readonly resourceVersion: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Encodes watch frames. */
export interface WatchFrames {
  /** See {@link Encoding.key}. */
  readonly key: string;
  /** Whether the frame of an unchanged object changes over time, as the ages of a table do. */
  readonly varies?: true;
  /** Encodes an object, from its stored bytes, as frames have it. */
  object(body: Uint8Array): Uint8Array;
  /** Encodes a watch frame from an event type and an object's stored bytes. */
  frame(type: string, body: Uint8Array): Uint8Array;
  /** Encodes a bookmark; its object has only the metadata. */
  bookmark(metadata: BookmarkMetadata): Uint8Array;
}

/** An encoding that supports watches. */
export interface WatchEncoding extends Encoding, WatchFrames {
  /** Content type of a watch response. */
  readonly watchContentType: string;
  /** Encoding of the frames after the first one, if they differ. */
  readonly later?: WatchFrames;
  /** Returns what only the first frame has, without an object: the columns of a table. */
  head?(): object;
  /** Encodes the watch frame with the reason of the watch's end. */
  error(status: object): Uint8Array;
}

/** Returns true if an encoding supports watches. */
export function writesFrames(encoding: Encoding): encoding is WatchEncoding {
  return "frame" in encoding;
}

/** Encodes a list, page by page. */
export interface ListWriter {
  /**
   * Returns the bytes of a page in parts; the first call also returns the start of the list. A part may be encoded when
   * it is requested, which takes less than a millisecond: the caller lets other requests run in between, and requests
   * the next page only after the last part.
   */
  page(page: ListedPage): Iterable<Uint8Array>;
  /** Returns the end of the list with its metadata. */
  end(end: ListEnd): Uint8Array;
  /**
   * Returns the parts before and after the content, for encodings with the length in front of a list. Unless the list
   * is small it must be read twice: once to measure it, once to send it.
   *
   * @param length number of bytes of pages and end.
   */
  around?(length: number): { readonly head: Uint8Array; readonly tail: Uint8Array };
}

/**
 * Returns the metadata of a list.
 *
 * @param whole whether an empty continue token is written too, as in lists of custom kinds.
 */
export function listMeta(
  { revision, continueToken, remaining, shard }: ListEnd,
  whole = false,
): Record<string, unknown> {
  return {
    // Computed lists have no version.
    ...(revision === 0 ? {} : { resourceVersion: String(revision) }),
    ...(continueToken === "" && !whole ? {} : { continue: continueToken }),
    ...(remaining === undefined ? {} : { remainingItemCount: remaining }),
    ...(shard === undefined ? {} : { shardInfo: { selector: shard } }),
  };
}

/** Returns the kind of a resource type's lists. */
export function listKind(resource: Resource): string {
  return resource.kind.custom?.listKind ?? `${resource.kind.name}List`;
}
