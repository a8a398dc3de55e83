import { decodeTrusted } from "../base/json/trusted.ts";
import { encodeJson } from "../base/json/encode.ts";
import type { JsonValue } from "../base/json/value.ts";
import type { ApiObject } from "../schema/kind.ts";
import { inOrder } from "../schema/order.ts";
import type { Draft, Entry, Revision } from "../storage/store.ts";
import type { Resource } from "./registry.ts";

/**
 * The form in which objects are stored: canonical JSON that begins with kind, apiVersion and, first in metadata,
 * resourceVersion, so that the store can put in the revision at a place known beforehand. These bytes are what get,
 * list and watch hand out.
 */
export function encodeObject(resource: Resource, object: ApiObject): Draft {
  const ordered = inOrder(resource.kind.type, object) as ApiObject;
  const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = ordered;
  const { resourceVersion: _version, ...meta } = metadata;
  const metaText = encodeJson(meta as JsonValue);
  const restText = encodeJson(rest as JsonValue);
  const text =
    `"${metaText === "{}" ? "" : `,${metaText.slice(1, -1)}`}}` +
    (restText === "{}" ? "}" : `,${restText.slice(1)}`);
  const length = Buffer.byteLength(text);
  const body = Buffer.allocUnsafe(resource.bodyPrefix.length + length);
  resource.bodyPrefix.copy(body);
  body.write(text, resource.bodyPrefix.length, "utf8");
  return { header: encodeHeader(resource, object), body, revisionAt: resource.bodyPrefix.length };
}

/** What selectors need, beside the body. */
export interface Header {
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The kind's selectable fields beyond metadata.name and metadata.namespace. */
  readonly fields: Readonly<Record<string, string>>;
}

function encodeHeader(resource: Resource, object: ApiObject): Uint8Array {
  const fields: Record<string, string> = {};
  for (const [path, read] of Object.entries(resource.kind.selectable)) fields[path] = read(object);
  return Buffer.from(JSON.stringify([object.metadata.uid ?? "", object.metadata.labels ?? {}, fields]));
}

/** Reads the header of an entry. */
export function headerOf(entry: Entry): Header {
  const [uid, labels, fields] = JSON.parse(textOf(entry.header)) as [
    string,
    Header["labels"],
    Header["fields"],
  ];
  return { uid, labels, fields };
}

/** The object of an entry, free to be changed. */
export function decodeEntry(entry: Entry): ApiObject {
  return decodeBody(entry.body);
}

/** The object of a stored body, free to be changed. */
export function decodeBody(body: Uint8Array): ApiObject {
  return decodeTrusted(asBuffer(body)) as unknown as ApiObject;
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
