import type { Resource } from "../../resources/registry.ts";
import type { ListEnd, ListedPage } from "../../resources/list.ts";

/** A way to write objects, lists and watch frames. An encoding is bound to one resource type. */
export interface Encoding {
  /** Two encodings with the same key write the same bytes, so what one wrote may be handed out by the other. */
  readonly key: string;
  readonly contentType: string;
  /** Content type of a watch. */
  readonly watchContentType: string;
  /** One object, from its stored bytes. */
  object(body: Uint8Array): Uint8Array;
  list(): ListWriter;
  /** One watch frame: an event type and an object's stored bytes. */
  frame(type: string, body: Uint8Array): Uint8Array;
  /** A watch frame with an object that isn't of the resource type: an error or a bookmark. */
  plainFrame(type: string, object: object): Uint8Array;
}

/** Writes one list, page by page. */
export interface ListWriter {
  /** The bytes of a page, to be sent one after the other; the first call also gives what stands before it. */
  page(page: ListedPage): readonly Uint8Array[];
  /** What stands behind the last page, with the list's metadata. */
  end(end: ListEnd): Uint8Array;
}

/** The metadata of a list as clients expect it. */
export function listMeta({ revision, continueToken, remaining }: ListEnd): object {
  return {
    resourceVersion: String(revision),
    ...(continueToken === "" ? {} : { continue: continueToken }),
    ...(remaining === undefined ? {} : { remainingItemCount: remaining }),
  };
}

/** The kind of a resource type's collection. */
export function listKind(resource: Resource): string {
  return `${resource.kind.name}List`;
}
