import { isAscii } from "node:buffer";
import * as der from "./der.ts";

/** Object identifier of the attribute with the requested extensions of a certificate request (RFC 2985). */
export const extensionRequest = "1.2.840.113549.1.9.14";
/** Object identifier of the extension with the subjectAltNames of a certificate (RFC 5280). */
const subjectAltName = "2.5.29.17";

const tag = { email: 0x81, dns: 0x82, uri: 0x86, address: 0x87 } as const;
const textTags = new Set<number>([tag.email, tag.dns, tag.uri]);

/** The subjectAltNames of a certificate request, by type. */
export interface AlternativeNames {
  readonly emails: readonly string[];
  readonly dnsNames: readonly string[];
  readonly uris: readonly string[];
  /** Addresses of 4 or 16 bytes. */
  readonly addresses: readonly Buffer[];
  /** Number of names of other types. */
  readonly others: number;
}

/**
 * Returns the subjectAltNames in the requested extensions of a certificate request.
 *
 * @param requested the values of its attributes `extensionRequest`, in DER.
 * @throws {Error} they can't be parsed, an address has the wrong length, or a text has characters beyond ASCII (RFC 5280 allows
 *   IA5String only).
 */
export function requestedAlternativeNames(requested: readonly Buffer[]): AlternativeNames {
  const names = requested.flatMap(extensionsIn).flatMap(namesIn);
  const textsOf = (textTag: number) =>
    names.filter((one) => one.tag === textTag).map(({ content }) => content.toString("latin1"));
  if (names.some((one) => textTags.has(one.tag) && !isAscii(one.content)))
    throw new Error("a subjectAltName has characters beyond ASCII");
  const addresses = names.filter((one) => one.tag === tag.address).map(({ content }) => content);
  if (addresses.some(({ length }) => length !== 4 && length !== 16))
    throw new Error("an IP address must have 4 or 16 bytes");
  const knownTags = new Set<number>(Object.values(tag));
  return {
    emails: textsOf(tag.email),
    dnsNames: textsOf(tag.dns),
    uris: textsOf(tag.uri),
    addresses,
    others: names.filter((one) => !knownTags.has(one.tag)).length,
  };
}

function extensionsIn(value: Buffer): der.Read[] {
  return der.readElements(value).flatMap(({ content }) => der.readElements(content));
}

/** Returns the names in an extension; empty if it isn't a subjectAltName. */
function namesIn({ content }: der.Read): der.Read[] {
  const parts = der.readElements(content);
  const [id, value] = [parts[0], parts.at(-1)];
  if (id === undefined || value === undefined) throw new Error("an extension has no identifier");
  if (!id.whole.equals(der.objectIdentifier(subjectAltName))) return [];
  return der.readElements(value.content).flatMap(({ content: names }) => der.readElements(names));
}
