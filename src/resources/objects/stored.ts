import { objectAs } from "../../schema/api-object.ts";
import { decodeTrusted } from "../../base/json/trusted.ts";
import { encodeJson, encodeString } from "../../base/json/encode.ts";
import type { JsonObject, JsonValue } from "../../base/json/value.ts";
import { storedManagedFields, textOfEntries } from "../../fields/apply/new-fields-text.ts";
import type { RecentFieldSets } from "../../fields/apply/recent-field-sets.ts";
import type { ApiObject, ObjectMetaValue } from "../../schema/kind.ts";
import { inOrder } from "../../schema/order.ts";
import type { Draft, Entry, Revision } from "../../storage/store.ts";
import type { LiveObject } from "./live-object.ts";
import type { Resource } from "../registry/registry.ts";
import { StatusError } from "../../base/status-error.ts";

/** Maximum size of a stored object, in bytes of its encoded form. */
const maxObjectBytes = 3 * 1024 * 1024;

/** An object is larger than the store accepts (413). */
export class ObjectTooLarge extends StatusError {
  override name = "ObjectTooLarge";

  constructor() {
    super("RequestEntityTooLarge", `the object is larger than ${maxObjectBytes} bytes`);
  }
}

/**
 * Checks the size of a draft. A dry run calls it itself, as it doesn't reach the store.
 *
 * @throws {ObjectTooLarge}
 */
export function checkSize({ body }: Draft): void {
  if (body.length > maxObjectBytes) throw new ObjectTooLarge();
}

/**
 * Rejects a decoded object that is certainly too large, before further work: it computes a lower bound of the encoded size.
 *
 * @throws {ObjectTooLarge}
 */
export function checkDecodedSize(object: object): void {
  if (bytesLeft(object as JsonValue, maxObjectBytes) < 0) throw new ObjectTooLarge();
}

/** Returns `bytes` minus a lower bound of the value's encoded size; negative if the value is larger. */
function bytesLeft(value: JsonValue | undefined, bytes: number): number {
  if (typeof value === "string") return bytes - value.length - quotes;
  if (typeof value !== "object" || value === null) return bytes - 1;
  let left = bytes - brackets;
  if (Array.isArray(value)) {
    for (const item of value) {
      left = bytesLeft(item, left - 1);
      if (left < 0) return left;
    }
    return left + 1;
  }
  for (const name in value) {
    const member = value[name];
    if (member !== undefined) left = bytesLeft(member, left - name.length - quotes - separators);
    if (left < 0) return left;
  }
  return left + 1;
}

/** Encoded bytes besides the content: of a string, of a list or object, and of a member (colon and comma). */
const quotes = 2;
const brackets = 2;
const separators = 2;

/**
 * Encodes an object for the store: canonical JSON that begins with kind, apiVersion and, first in metadata, resourceVersion, so that
 * the store can insert the revision at a fixed position. Get, list and watch send these bytes.
 *
 * @param managed its managed fields; by default those in its metadata.
 * @param ordered its members in canonical order; by default those that the kind declares.
 */
export function encodeObject(
  resource: Resource,
  object: ApiObject,
  managed = textOfEntries(object.metadata.managedFields),
  ordered = inOrder(resource.kind.type, object) as ApiObject,
): Draft {
  const { bodyPrefix } = resource;
  const before = `"${membersBut(ordered.metadata as JsonObject, separateMetadata)}`;
  const owners = managed.text === "" ? "" : `${managedMark}${managed.text}`;
  const text = `${before}${owners}}${membersBut(ordered as JsonObject, firstMembers)}}`;
  const revisionAt = bodyPrefix.length;
  const textBytes = Buffer.byteLength(text);
  const body = Buffer.allocUnsafe(revisionAt + textBytes);
  bodyPrefix.copy(body);
  body.write(text, revisionAt, "utf8");
  // If the whole text is ASCII, so are its parts.
  const ascii = textBytes === text.length;
  const lengthOf = (part: string): number => (ascii ? part.length : Buffer.byteLength(part));
  const spans = owners === "" ? noSpans : [revisionAt + lengthOf(before), lengthOf(owners), ...managed.sets];
  return { header: encodeHeader(resource, object, spans), body, revisionAt };
}

/** Members of metadata that are encoded separately. */
const separateMetadata: ReadonlySet<string> = new Set(["resourceVersion", "managedFields"]);
const firstMembers: ReadonlySet<string> = new Set(["kind", "apiVersion", "metadata"]);

/** The members of an object as JSON, without the excluded ones; each member begins with a comma. */
function membersBut(object: JsonObject, excluded: ReadonlySet<string>): string {
  let text = "";
  for (const name in object) {
    const value = object[name];
    if (value === undefined || excluded.has(name)) continue;
    text += `,${encodeString(name)}:${encodeJson(value)}`;
  }
  return text;
}

/** The text before the managed fields, which are the last member of the metadata. */
const managedMark = ',"managedFields":';

/** The data of an object that selectors need, and the position of the managed fields in the body. */
export interface Header {
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The kind's selectable fields beyond metadata.name and metadata.namespace. */
  readonly fields: Readonly<Record<string, string>>;
  /**
   * The first two numbers are position and length, in bytes, of `,"managedFields":…` in the body; the others are the positions of the
   * field sets in that text ({@link ManagedFieldsText}). Empty without managed fields.
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

/** Reads the uid in the header of an object; empty for other values, such as claims of addresses. */
export function uidOf(entry: Entry): string {
  const parts: unknown = JSON.parse(textOf(entry.header));
  return Array.isArray(parts) ? String(parts[0]) : "";
}

/** Whether two entries of a key have the same uid, labels and selectable fields; false if a header has the form of an older release. */
export function sameHeading(one: Entry, other: Entry): boolean {
  const [a, b] = [asBuffer(one.header), asBuffer(other.header)];
  const end = managedAt(a);
  return end > 0 && end === managedAt(b) && a.compare(b, 0, end, 0, end) === 0;
}

/** Position in a header of its last part, the managed fields; -1 if the header lacks it. */
function managedAt(header: Buffer): number {
  const last = header.length - 1;
  const closes = header[last] === closingBracket && header[last - 1] === closingBracket;
  return closes ? header.lastIndexOf(openingBracket) : -1;
}

const openingBracket = 0x5b;
const closingBracket = 0x5d;

/** Reads `managed` of the header only: it is the last part, a list of numbers. */
function managedSpans({ header }: Entry): readonly number[] {
  const text = textOf(header);
  return text.endsWith("]]") ? (JSON.parse(text.slice(text.lastIndexOf("["), -1)) as number[]) : noSpans;
}

/**
 * Decodes the object of an entry, with its managed fields beside it, which are decoded on first use. The caller may change the object.
 *
 * @param sets cache of decoded field sets.
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
    object: objectAs<ApiObject>(object as JsonObject),
    managed: storedManagedFields({ text, sets: setSpans }, sets?.read),
  };
}

/** Decodes the object of an entry. The caller may change it. */
export function decodeEntry(entry: Entry): ApiObject {
  return decodeBody(entry.body);
}

/** Decodes the object of a stored body. The caller may change it. */
export function decodeBody(body: Uint8Array): ApiObject {
  return objectAs<ApiObject>(decodeTrusted(asBuffer(body)) as JsonObject);
}

/**
 * Decodes only the metadata of an entry's object, without the managed fields, which are the end of it at a known position. The caller may
 * change it.
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
  return objectAs<ObjectMetaValue>(decodeTrusted(text) as JsonObject);
}

const metadataMark = '"metadata":';
const closingBrace = Buffer.from("}");

/** The bytes of a body from the name of its metadata to its revision. */
const beforeRevision = `${metadataMark}{"resourceVersion":"`;

/** The position of the metadata in an entry's body. */
export function metadataAt({ revisionAt }: Pick<Entry, "revisionAt">): number {
  return revisionAt - beforeRevision.length;
}

/** An entry's body with another revision; a deleted object has the revision of its deletion. */
export function bodyAt(entry: Entry, revision: Revision): Buffer {
  const old = String(entry.revision).length;
  const digits = Buffer.from(String(revision));
  const body = asBuffer(entry.body);
  return Buffer.concat([body.subarray(0, entry.revisionAt), digits, body.subarray(entry.revisionAt + old)]);
}

/** A draft's body with a resource version, for a response without a commit, such as that of a dry run. */
export function draftBody(draft: Draft, resourceVersion: string): Buffer {
  const body = asBuffer(draft.body);
  const before = body.subarray(0, draft.revisionAt);
  return Buffer.concat([before, Buffer.from(resourceVersion), body.subarray(draft.revisionAt)]);
}

/** Whether a draft equals the stored body except for the revision. */
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
