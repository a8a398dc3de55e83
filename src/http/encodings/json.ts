import { portions } from "./chunks.ts";
import { jsonOf, type JsonValue } from "../../base/json/value.ts";
import { encodeJson, encodePretty } from "../../base/json/encode.ts";
import { decodeTrusted } from "../../base/json/trusted.ts";
import { asBuffer } from "../../resources/objects/stored.ts";
import { joinBodies } from "../../resources/pages/joined-bodies.ts";
import type { ListEnd, ListedPage } from "../../resources/reads/list.ts";
import { listMeta, type BookmarkMetadata, type WatchEncoding, type ListWriter } from "./encoding.ts";
import { shownItem, type View } from "./view.ts";

/** JSON. If a view shows whole objects as stored, the stored bytes are sent unchanged. */
export class JsonEncoding implements WatchEncoding {
  readonly key: string;
  readonly contentType = "application/json";
  readonly watchContentType = "application/json";
  constructor(private readonly view: View) {
    this.key = `json ${view.key}`;
  }

  object(body: Uint8Array): Uint8Array {
    return this.view.asStored ? body : shownJson(this.view, body);
  }

  list(): ListWriter {
    return new JsonListWriter(this.view);
  }

  frame(type: string, body: Uint8Array): Uint8Array {
    const head = frameHeads.get(type) ?? frameHead(type);
    const shown = this.object(body);
    const frame = Buffer.allocUnsafe(head.length + shown.length + 2);
    head.copy(frame, 0);
    frame.set(shown, head.length);
    frame.write("}\n", head.length + shown.length, "latin1");
    return frame;
  }

  bookmark(metadata: BookmarkMetadata): Uint8Array {
    const { kind, apiVersion } = this.view;
    return jsonFrame("BOOKMARK", { kind, apiVersion, metadata });
  }

  error(status: object): Uint8Array {
    return jsonFrame("ERROR", status);
  }
}

function shownJson(view: View, body: Uint8Array): Buffer {
  return Buffer.from(encodeJson(jsonOf(view.show(body))));
}

function frameHead(type: string): Buffer {
  return Buffer.from(`{"type":${JSON.stringify(type)},"object":`);
}

const frameHeads = new Map(["ADDED", "MODIFIED", "DELETED"].map((type) => [type, frameHead(type)]));

/** A watch frame in JSON. */
export function jsonFrame(type: string, object: object): Buffer {
  return Buffer.from(`${encodeJson({ type, object: object as JsonValue })}\n`);
}

/** Writes items before the metadata, because only the end of the list shows whether more items remain. */
class JsonListWriter implements ListWriter {
  private begun = false;
  constructor(private readonly view: View) {}

  page(page: ListedPage): Iterable<Uint8Array> {
    return this.view.asStored ? this.stored(page) : this.shown(page);
  }

  end(end: ListEnd): Uint8Array {
    return Buffer.concat([
      this.head(),
      Buffer.from(`],"metadata":${JSON.stringify(listMeta(end, this.view.isCustom))}}\n`),
    ]);
  }

  private stored({
    entries,
    joined = joinBodies(entries, this.view.itemForm),
  }: ListedPage): readonly Uint8Array[] {
    // The comma before the first item is dropped.
    return this.begun ? [joined] : [this.head(), joined.subarray(1)];
  }

  private *shown({ entries }: ListedPage): Generator<Uint8Array> {
    for (const some of portions(entries)) {
      const start = this.begun ? comma : this.head();
      const texts = some.map(({ body }) => encodeJson(shownItem(this.view, body) as JsonValue));
      yield Buffer.concat([start, Buffer.from(texts.join(","))]);
    }
  }

  private head(): Buffer {
    if (this.begun) return nothing;
    this.begun = true;
    const { apiVersion, listKind } = this.view;
    return Buffer.from(`{"kind":"${listKind}","apiVersion":"${apiVersion}","items":[`);
  }
}

const nothing = Buffer.alloc(0);
const comma = Buffer.from(",");

/**
 * Formats JSON with line breaks and an indentation of two spaces (`pretty`), without a final line break, as in the
 * reference.
 */
export function prettyJson(body: Uint8Array): Buffer {
  return Buffer.from(encodePretty(decodeTrusted(asBuffer(body))));
}
