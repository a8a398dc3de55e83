import { WireType } from "@bufbuild/protobuf/wire";
import { releases } from "../../base/releases.ts";
import { itemAt } from "../../resources/pages/joined-bodies.ts";
import type { ListEnd, ListedPage } from "../../resources/reads/list.ts";
import type { PageForm, PagePart } from "../../resources/pages/page-forms.ts";
import { asBuffer } from "../../resources/objects/stored.ts";
import { structInRelease } from "../../schema/kind-in-release.ts";
import { ListMeta } from "../../schema/object-meta.ts";
import { collectBytes, writeStruct } from "../../schema/protobuf/encode-message.ts";
import { encodeEnvelope, envelopeAround, sealEnvelope } from "../../schema/protobuf/envelope.ts";
import { transcodeFields, transcodeMessage } from "../../schema/protobuf/transcode.ts";
import { StatusType } from "../../schema/status-type.ts";
import type { Entry } from "../../storage/store.ts";
import { JsonEncoding } from "./json.ts";
import { fastChunkBytes, portions } from "./chunks.ts";
import {
  listMeta,
  type BookmarkMetadata,
  type Encoding,
  type WatchEncoding,
  type ListWriter,
} from "./encoding.ts";
import type { View } from "./view.ts";

/** The metadata of lists with the fields of all releases: {@link listMeta} has only those of the server's release. */
const newestListMeta = structInRelease(ListMeta, releases.at(-1)!);

/** The Kubernetes protobuf envelope (spec: conventions 2.12). */
export class ProtobufEncoding implements WatchEncoding {
  readonly key: string;
  readonly watchContentType: string;
  readonly isCacheable = true;
  constructor(
    private readonly view: View,
    readonly contentType: string,
  ) {
    this.key = `protobuf ${view.key}`;
    this.watchContentType = `${contentType};stream=watch`;
  }

  get inJson(): Encoding {
    return new JsonEncoding(this.view);
  }

  object(body: Uint8Array): Uint8Array {
    const { view } = this;
    const message = view.ofStored
      ? transcodeMessage(view.type, { bytes: asBuffer(body), start: 0 })
      : undefined;
    return message === undefined
      ? encodeEnvelope(view, view.type, view.show(body))
      : sealEnvelope(view, message);
  }

  list(): ListWriter {
    const { view } = this;
    return {
      page: (page: ListedPage) => this.items(page),
      end: (end: ListEnd) =>
        collectBytes((out) => {
          writeStruct(out, newestListMeta, listMeta(end));
          out.open(1, 0);
        }),
      around: (length) => envelopeAround({ apiVersion: view.apiVersion, kind: view.listKind }, length),
    };
  }

  frame(type: string, body: Uint8Array): Uint8Array {
    return watchFrame(type, this.object(body));
  }

  bookmark(metadata: BookmarkMetadata): Uint8Array {
    return watchFrame("BOOKMARK", encodeEnvelope(this.view, this.view.type, { metadata }));
  }

  error(status: object): Uint8Array {
    return watchFrame("ERROR", binaryStatus(status));
  }

  /** Encodes the objects of a page, each as a field of the list. */
  private *items({ entries, forms, part }: ListedPage): Generator<Uint8Array> {
    const cached = forms?.get(this.key) as CachedItems | undefined;
    if (cached !== undefined) return yield cached.items;
    const whole = part && this.wholePage(part);
    if (whole !== undefined) return yield itemsAt(whole, part!.positions);
    const parts: Uint8Array[] = [];
    for (const some of portions(entries, this.view.ofStored ? fastChunkBytes : undefined)) {
      const part = this.fields(some);
      parts.push(part);
      yield part;
    }
    if (forms === undefined) return;
    const items = Buffer.concat(parts);
    forms.keep<CachedItems>(this.key, { items, bytes: items.length });
  }

  /** Returns the encoded items of the page of a part, if they are cached or worth being cached. */
  private wholePage({ entries, forms, positions }: PagePart): Uint8Array | undefined {
    const cached = forms.get(this.key) as CachedItems | undefined;
    if (cached !== undefined) return cached.items;
    if (!this.view.ofStored || positions.length * minPartOfPage < entries.length) return undefined;
    const items = this.fields(entries);
    forms.keep<CachedItems>(this.key, { items, bytes: items.length });
    return items;
  }

  private fields(entries: readonly Entry[]): Uint8Array {
    const { view } = this;
    const transcoded = view.ofStored
      ? transcodeFields(view.type, itemsField, entries.map(itemAt))
      : undefined;
    if (transcoded !== undefined) return transcoded;
    const objects = entries.map(({ body }) => view.show(body));
    return collectBytes((out) => {
      for (const object of objects.toReversed()) {
        const { length } = out;
        writeStruct(out, view.type, object);
        out.open(itemsField, length);
      }
    });
  }
}

/** Field number of a list's items. */
const itemsField = 2;
/** A part of at least one in this number of a page's entries is taken from the encoding of the whole page. */
const minPartOfPage = 4;

/**
 * Takes some items out of the encoded items of a page.
 *
 * @param positions indexes of the items, ascending.
 */
function itemsAt(items: Uint8Array, positions: readonly number[]): Uint8Array {
  const chosen: Uint8Array[] = [];
  let at = 0;
  let index = 0;
  /** Start of consecutive chosen items; -1 outside of them. */
  let start = -1;
  for (const position of positions) {
    if (start !== -1 && index < position) {
      chosen.push(items.subarray(start, at));
      start = -1;
    }
    for (; index < position; index++) at = endOfField(items, at);
    if (start === -1) start = at;
    at = endOfField(items, at);
    index++;
  }
  if (start !== -1) chosen.push(items.subarray(start, at));
  return Buffer.concat(chosen);
}

/** Returns the end of a field at a position: a tag of one byte, the length of the content, and the content. */
function endOfField(bytes: Uint8Array, at: number): number {
  let length = 0;
  let shift = 0;
  let next = at + 1;
  for (;;) {
    const byte = bytes[next++]!;
    length += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return next + length;
    shift += 7;
  }
}

/** Encoded items in the page cache. */
interface CachedItems extends PageForm {
  readonly items: Uint8Array;
}

/** Encodes a Status. */
export function binaryStatus(status: object): Buffer {
  const type = { apiVersion: "v1", kind: "Status" };
  return encodeEnvelope(type, StatusType, status as Record<string, unknown>);
}

/**
 * Returns a watch frame: four bytes of length, then the event with its type (1) and its object (2), which is a
 * RawExtension (1).
 */
function watchFrame(type: string, object: Uint8Array): Buffer {
  const head = collectBytes((out) => {
    out.varint(object.length);
    out.tag(1, WireType.LengthDelimited);
    out.varint(object.length + out.length);
    out.tag(2, WireType.LengthDelimited);
    out.text(type);
    out.tag(1, WireType.LengthDelimited);
    const length = Buffer.alloc(lengthBytes);
    length.writeUInt32BE(out.length + object.length);
    out.raw(length);
  });
  const frame = Buffer.allocUnsafe(head.length + object.length);
  head.copy(frame);
  frame.set(object, head.length);
  return frame;
}

const lengthBytes = 4;
