import { encodeJson } from "../../../base/json/encode.ts";
import type { JsonValue } from "../../../base/json/value.ts";
import { definitionPair, documentHead, mapHead, pathPair } from "../../../schema/openapi/binary-document.ts";

/** The maps of an OpenAPI 2.0 document that grow with the number of resource types. */
export type DocumentMap = "definitions" | "paths";

/** Encodes an OpenAPI 2.0 document in parts. */
export interface DocumentForm {
  readonly name: "binary" | "json";
  /** Encodes a member of a map. */
  member(map: DocumentMap, name: string, value: unknown): Buffer;
  /**
   * Encodes the bytes between the previous part and the members of a map.
   *
   * @param head the members of the document before its maps.
   * @param bytes total size of the map's members.
   */
  before(map: DocumentMap, head: object, bytes: number): Buffer;
  /** The end of the document. */
  readonly end: Buffer;
}

/** JSON. Each encoded member starts with a comma, which is dropped from the first one. */
export const jsonForm: DocumentForm = {
  name: "json",
  member: (_, name, value) => Buffer.from(`,${JSON.stringify(name)}:${encodeJson(value as JsonValue)}`),
  before: (map, head) =>
    Buffer.from(
      map === "paths" ? `${encodeJson(head as JsonValue).slice(0, -1)},"paths":{` : '},"definitions":{',
    ),
  end: Buffer.from("}}"),
};

/** The message `openapi.v2.Document`; see `binary-document.ts`. */
export const binaryForm: DocumentForm = {
  name: "binary",
  member: (map, name, value) => (map === "paths" ? pathPair : definitionPair)(name, value),
  before: (map, head, bytes) =>
    Buffer.concat([...(map === "paths" ? [documentHead(head)] : []), mapHead(map, bytes)]),
  end: Buffer.alloc(0),
};
