import { decodeTrusted } from "../../base/json/trusted.ts";
import { encodeJson, encodeString } from "../../base/json/encode.ts";
import type { JsonObject } from "../../base/json/value.ts";
import { storedManagedFields } from "../../fields/apply/managed-fields.ts";
import type { RecentFieldSets } from "../../fields/apply/recent-field-sets.ts";
import { textOfEntries } from "../../fields/apply/managed-fields-text.ts";
import type { ApiObject, ObjectMetaValue } from "../../schema/kind.ts";
import { inOrder } from "../../schema/order.ts";
import type { Draft, Entry, Revision } from "../../storage/store.ts";
import type { LiveObject } from "./live-object.ts";
import type { Resource } from "../registry/registry.ts";

/**
 * The form in which objects are stored: canonical JSON that begins with kind, apiVersion and, first in metadata,
 * resourceVersion, so that the store can put in the revision at a place known beforehand. These bytes are what get,
 * list and watch hand out.
 *
 * @param managed its managed fields; those in its metadata unless given.
 */
export function encodeObject(
  resource: Resource,
  object: ApiObject,
  managed = textOfEntries(object.metadata.managedFields),
): Draft {
  const { bodyPrefix } = resource;
  const ordered = inOrder(resource.kind.type, object) as ApiObject;
  const before = `"${membersBut(ordered.metadata as JsonObject, ofTheServer)}`;
  const owners = managed.text === "" ? "" : `${managedMark}${managed.text}`;
  const text = `${before}${owners}}${membersBut(ordered as JsonObject, atTheBeginning)}}`;
  const revisionAt = bodyPrefix.length;
  const textBytes = Buffer.byteLength(text);
  const body = Buffer.allocUnsafe(revisionAt + textBytes);
  bodyPrefix.copy(body);
  body.write(text, revisionAt, "utf8");
  // Most texts are ASCII, and so are their parts.
  const ascii = textBytes === text.length;
  const lengthOf = (part: string): number => (ascii ? part.length : Buffer.byteLength(part));
  const spans = owners === "" ? noSpans : [revisionAt + lengthOf(before), lengthOf(owners), ...managed.sets];
  return { header: encodeHeader(resource, object, spans), body, revisionAt };
}

/** Members of metadata that are written apart from the others. */
const ofTheServer: ReadonlySet<string> = new Set(["resourceVersion", "managedFields"]);
const atTheBeginning: ReadonlySet<string> = new Set(["kind", "apiVersion", "metadata"]);

/** The members of an object as JSON, each behind a comma. */
function membersBut(object: JsonObject, left: ReadonlySet<string>): string {
  let text = "";
  for (const name in object) {
    const value = object[name];
    if (value === undefined || left.has(name)) continue;
    text += `,${encodeString(name)}:${encodeJson(value)}`;
  }
  return text;
}

/** The text before the managed fields, which are the last member of the metadata. */
const managedMark = ',"managedFields":';

/** What selectors need, beside the body, and where in the body the managed fields are. */
export interface Header {
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The kind's selectable fields beyond metadata.name and metadata.namespace. */
  readonly fields: Readonly<Record<string, string>>;
  /**
   * The position of the managed fields in the draft's body, with the comma and the name before them, and how many bytes they
   * are; then where their sets are in their text (see {@link ManagedFieldsText}). Empty when there are none.
   */
  readonly managed: readonly number[];
}

const noSpans: readonly number[] = [];

function encodeHeader(resource: Resource, object: ApiObject, managed: readonly number[]): Uint8Array {
  const { selectable } = resource.kind;
  const fields: Record<string, string> = {};
  for (const path in selectable) fields[path] = selectable[path]!(object);
  const { uid = "", labels = {} } = object.metadata;
  return Buffer.from(JSON.stringify([uid, labels, fields, managed]));
}

/** Reads the header of an entry. */
export function headerOf(entry: Entry): Header {
  const [uid, labels, fields, managed = noSpans] = JSON.parse(textOf(entry.header)) as [
    string,
    Header["labels"],
    Header["fields"],
    Header["managed"],
  ];
  return { uid, labels, fields, managed };
}

/** Whether two entries of a key surely have the same uid, labels and selectable fields. */
export function sameHeading(one: Entry, other: Entry): boolean {
  const [a, b] = [asBuffer(one.header), asBuffer(other.header)];
  const end = managedAt(a);
  return end > 0 && end === managedAt(b) && a.compare(b, 0, end, 0, end) === 0;
}

/** Where in a header its last part begins, the managed fields; -1 in one that hasn't this part. */
function managedAt(header: Buffer): number {
  const last = header.length - 1;
  const closes = header[last] === closingBracket && header[last - 1] === closingBracket;
  return closes ? header.lastIndexOf(openingBracket) : -1;
}

const openingBracket = 0x5b;
const closingBracket = 0x5d;

/** What {@link headerOf} reads last, without the rest: numbers in brackets, behind everything else. */
function managedSpans({ header }: Entry): readonly number[] {
  const text = textOf(header);
  return text.endsWith("]]") ? (JSON.parse(text.slice(text.lastIndexOf("["), -1)) as number[]) : noSpans;
}

/**
 * The object of an entry, free to be changed, and its managed fields beside it, which are decoded when first asked for.
 *
 * @param sets reads its sets of fields; without, each is read anew.
 */
export function decodeLive(entry: Entry, sets?: RecentFieldSets): LiveObject {
  const managed = managedSpans(entry);
  const body = asBuffer(entry.body);
  if (managed.length === 0) {
    const object = decodeBody(body);
    const { managedFields } = object.metadata;
    delete object.metadata.managedFields;
    return { object, managed: storedManagedFields(textOfEntries(managedFields), sets?.read) };
  }
  const [draftStart, length, ...setSpans] = managed as [number, number, ...number[]];
  const start = draftStart + String(entry.revision).length;
  const object = decodeTrusted(body, { start, end: start + length });
  const text = body.toString("utf8", start + managedMark.length, start + length);
  return {
    object: object as unknown as ApiObject,
    managed: storedManagedFields({ text, sets: setSpans }, sets?.read),
  };
}

/** The object of an entry, free to be changed. */
export function decodeEntry(entry: Entry): ApiObject {
  return decodeBody(entry.body);
}

/** The object of a stored body, free to be changed. */
export function decodeBody(body: Uint8Array): ApiObject {
  return decodeTrusted(asBuffer(body)) as unknown as ApiObject;
}

/**
 * The metadata of an entry's object without its managed fields, free to be changed. Nothing else is decoded: the managed
 * fields end the metadata, and their place is known.
 */
export function metadataOf(entry: Entry): ObjectMetaValue {
  const [draftStart] = managedSpans(entry);
  if (draftStart === undefined) {
    const { metadata } = decodeEntry(entry);
    delete metadata.managedFields;
    return metadata;
  }
  const start = metadataAt(entry) + metadataMark.length;
  const end = draftStart + String(entry.revision).length;
  const text = Buffer.concat([asBuffer(entry.body).subarray(start, end), closingBrace]);
  return decodeTrusted(text) as unknown as ObjectMetaValue;
}

const metadataMark = '"metadata":';
const closingBrace = Buffer.from("}");

/** What stands in a body between the beginning of its metadata and its revision. */
const beforeRevision = `${metadataMark}{"resourceVersion":"`;

/** The position of the metadata in an entry's body: only its kind and apiVersion stand before them. */
export function metadataAt({ revisionAt }: Pick<Entry, "revisionAt">): number {
  return revisionAt - beforeRevision.length;
}

/** An entry's body as it would read at another revision (a deleted object carries the revision of its deletion). */
export function bodyAt(entry: Entry, revision: Revision): Buffer {
  const old = String(entry.revision).length;
  const digits = Buffer.from(String(revision));
  const body = asBuffer(entry.body);
  return Buffer.concat([body.subarray(0, entry.revisionAt), digits, body.subarray(entry.revisionAt + old)]);
}

/** A draft's body with a resource version that is not its own commit's: what a dry run answers. */
export function draftBody(draft: Draft, resourceVersion: string): Buffer {
  const body = asBuffer(draft.body);
  const before = body.subarray(0, draft.revisionAt);
  return Buffer.concat([before, Buffer.from(resourceVersion), body.subarray(draft.revisionAt)]);
}

/** Whether a draft says the same as what is stored, but for the revision. */
export function sameContent(entry: Entry, draft: Draft): boolean {
  const digits = String(entry.revision).length;
  if (entry.body.length !== draft.body.length + digits || entry.revisionAt !== draft.revisionAt) return false;
  const stored = asBuffer(entry.body);
  const fresh = asBuffer(draft.body);
  return (
    stored.subarray(0, entry.revisionAt).equals(fresh.subarray(0, draft.revisionAt)) &&
    stored.subarray(entry.revisionAt + digits).equals(fresh.subarray(draft.revisionAt))
  );
}

/** The same bytes as a Buffer. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function textOf(bytes: Uint8Array): string {
  return asBuffer(bytes).toString("utf8");
}
