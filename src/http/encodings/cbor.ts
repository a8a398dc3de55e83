import { jsonOf, type JsonValue } from "../../base/json/value.ts";
import { CborWriter, encodeCbor, selfDescribed, type BytesShape } from "../../base/cbor/encode-cbor.ts";
import type { ListEnd, ListedPage } from "../../resources/reads/list.ts";
import type { PageForm } from "../../resources/pages/page-forms.ts";
import { bytesShapeOf } from "../../schema/bytes-shape.ts";
import type { Entry } from "../../storage/store.ts";
import { JsonEncoding } from "./json.ts";
import { portions } from "./chunks.ts";
import {
  listMeta,
  type BookmarkMetadata,
  type Encoding,
  type ListWriter,
  type WatchEncoding,
} from "./encoding.ts";
import { shownItem, type View } from "./view.ts";

/** CBOR (RFC 8949), and CBOR sequences for watches. As in the reference, tables don't support it. */
export class CborEncoding implements WatchEncoding {
  readonly key: string;
  readonly contentType = "application/cbor";
  readonly watchContentType = "application/cbor-seq";
  readonly isCacheable = true;
  /** The fields with bytes; custom kinds have none. */
  private readonly shape: BytesShape | undefined;
  constructor(private readonly view: View) {
    this.key = `cbor ${view.key}`;
    this.shape = view.isCustom ? undefined : bytesShapeOf(view.type);
  }

  get inJson(): Encoding {
    return new JsonEncoding(this.view);
  }

  object(body: Uint8Array): Uint8Array {
    return encodeCbor(jsonOf(this.view.show(body)), this.shape);
  }

  list(): ListWriter {
    let started = false;
    const head = (): Uint8Array => {
      if (started) return nothing;
      started = true;
      return this.listHead();
    };
    return {
      page: (page: ListedPage) => this.page(page, head),
      end: (end: ListEnd) => {
        const writer = new CborWriter();
        writer.raw(head());
        writer.byte(endOfItems);
        writer.text("metadata");
        writer.value(listMeta(end, this.view.isCustom) as JsonValue);
        return writer.bytes();
      },
    };
  }

  frame(type: string, body: Uint8Array): Uint8Array {
    return frame(type, this.object(body));
  }

  bookmark(metadata: BookmarkMetadata): Uint8Array {
    const { kind, apiVersion } = this.view;
    return frame("BOOKMARK", encodeCbor(jsonOf({ kind, apiVersion, metadata })));
  }

  error(status: object): Uint8Array {
    return frame("ERROR", encodeCbor(status as JsonValue));
  }

  private *page({ entries, forms }: ListedPage, head: () => Uint8Array): Generator<Uint8Array> {
    const cached = forms?.get(this.key) as CachedItems | undefined;
    yield head();
    if (cached !== undefined) return yield cached.items;
    const parts: Uint8Array[] = [];
    for (const some of portions(entries)) {
      const part = this.items(some);
      parts.push(part);
      yield part;
    }
    if (forms === undefined) return;
    const items = Buffer.concat(parts);
    forms.keep<CachedItems>(this.key, { items, bytes: items.length });
  }

  private items(entries: readonly Entry[]): Uint8Array {
    const writer = new CborWriter();
    for (const { body } of entries) writer.value(shownItem(this.view, body) as JsonValue, this.shape);
    return writer.bytes();
  }

  /** Returns the start of a list. The number of items isn't known yet, so they are an array of indefinite length. */
  private listHead(): Uint8Array {
    const { apiVersion, listKind } = this.view;
    const writer = new CborWriter();
    writer.raw(selfDescribed);
    writer.head(mapType, listMembers);
    writer.text("kind");
    writer.text(listKind);
    writer.text("apiVersion");
    writer.text(apiVersion);
    writer.text("items");
    writer.byte(startOfItems);
    return writer.bytes();
  }
}

/** Encoded items in the page cache. */
interface CachedItems extends PageForm {
  readonly items: Uint8Array;
}

const nothing = Buffer.alloc(0);
const mapType = 5;
/** Number of members of a list: kind, apiVersion, items and metadata. */
const listMembers = 4;
const startOfItems = 0x9f;
const endOfItems = 0xff;

/** Returns a watch event with an encoded object. */
function frame(type: string, object: Uint8Array): Buffer {
  const writer = new CborWriter();
  writer.raw(selfDescribed);
  writer.head(mapType, 2);
  writer.text("type");
  writer.text(type);
  writer.text("object");
  writer.raw(object);
  return writer.bytes();
}
