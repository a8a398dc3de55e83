import { isAscii, isUtf8 } from "node:buffer";
import { type Read, readElements } from "./der.ts";

/** User and groups of the subject of a certificate or certificate request (spec: conventions 5.1). */
export interface SubjectName {
  /** In order; the last one is the user's name. */
  readonly commonNames: readonly string[];
  /** The user's groups. */
  readonly organizations: readonly string[];
  /** Values of the attribute for the user's unique identifier, which release 1.33 and later read. */
  readonly uids: readonly string[];
}

/** A malformed subject. The message names the attribute and the problem. */
export class SubjectFault extends Error {
  override name = "SubjectFault";
}

/**
 * Attribute OIDs in DER as hexadecimal: `id-at-commonName` and `id-at-organizationName` of RFC 5280, and the reference's own for the
 * unique identifier of a user, 1.3.6.1.4.1.57683.2.
 */
const commonName = "550403";
const organizationName = "55040a";
const userUid = "2b0601040183c25302";

/** Limit that bounds the time for parsing. */
const maxBytes = 64 * 1024;

const tag = { identifier: 0x06, sequence: 0x30, set: 0x31 } as const;

/** A string type of ASN.1: a check of the content, and its decoder. */
interface StringType {
  readonly name: string;
  readonly allows: (content: Buffer) => boolean;
  readonly textOf: (content: Buffer) => string;
}

const latin1 = (content: Buffer): string => content.toString("latin1");
const ofCharacters =
  (allowed: RegExp) =>
  (content: Buffer): boolean =>
    allowed.test(latin1(content));

/**
 * String types that a subject may contain, by tag: those that other programs of a cluster support. The standard's PrintableString
 * doesn't include `*` and `&`, but they are widely used in it.
 */
const stringTypes: ReadonlyMap<number, StringType> = new Map([
  [0x0c, { name: "UTF8String", allows: isUtf8, textOf: (content) => content.toString("utf8") }],
  [0x12, { name: "NumericString", allows: ofCharacters(/^[0-9 ]*$/), textOf: latin1 }],
  [0x13, { name: "PrintableString", allows: ofCharacters(/^[A-Za-z0-9 '()+,\-./:=?*&]*$/), textOf: latin1 }],
  [0x14, { name: "TeletexString", allows: () => true, textOf: latin1 }],
  [0x16, { name: "IA5String", allows: isAscii, textOf: latin1 }],
  [0x1e, { name: "BMPString", allows: isBasicPlane, textOf: basicPlaneText }],
]);

/**
 * Parses the subject of a certificate or certificate request. Signers, admission and authentication all use this parser, so they
 * see the same user and groups.
 *
 * @param name the subject (Name of RFC 5280) in DER.
 * @throws {SubjectFault} if it is malformed, or an attribute's value is invalid for its string type.
 */
export function readSubject(name: Buffer): SubjectName {
  if (name.length > maxBytes) throw new SubjectFault(`the subject is longer than ${maxBytes} bytes`);
  const commonNames: string[] = [];
  const organizations: string[] = [];
  const uids: string[] = [];
  for (const [index, attribute] of attributesOf(name).entries()) {
    const { type, text } = readAttribute(attribute, index);
    if (type === commonName) commonNames.push(text);
    if (type === organizationName) organizations.push(text);
    if (type === userUid) uids.push(text);
  }
  return { commonNames, organizations, uids };
}

/** Returns the attributes of a name, in order. A name is a sequence of sets of attributes. */
function attributesOf(name: Buffer): Read[] {
  const sets = contentOf(single(name, tag.sequence));
  return sets.flatMap((one) => {
    if (one.tag !== tag.set) throw new SubjectFault("the subject is not a sequence of sets");
    return contentOf(one);
  });
}

function readAttribute(attribute: Read, index: number): { type: string; text: string } {
  const fault = (what: string) => new SubjectFault(`attribute ${index} of the subject ${what}`);
  const [type, value, ...more] = attribute.tag === tag.sequence ? contentOf(attribute) : [];
  if (type?.tag !== tag.identifier || value === undefined || more.length > 0)
    throw fault("is not a pair of identifier and value");
  if (!isIdentifier(type.content)) throw fault("has an identifier that is not well-formed");
  const stringType = stringTypes.get(value.tag);
  if (stringType === undefined) {
    const names = [...stringTypes.values()].map((one) => one.name).join(", ");
    throw fault(`has a value of ASN.1 tag ${value.tag}; allowed are ${names}`);
  }
  if (!stringType.allows(value.content)) throw fault(`is not a valid ${stringType.name}`);
  const text = stringType.textOf(value.content);
  // Programs that end strings at NUL would read a different name.
  if (text.includes("\0")) throw fault("contains a NUL character");
  return { type: type.content.toString("hex"), text };
}

/** Whether each number of an object identifier is in the shortest form, as DER requires. */
function isIdentifier(content: Buffer): boolean {
  let begins = true;
  for (const byte of content) {
    if (begins && byte === 0x80) return false;
    begins = byte < 0x80;
  }
  return begins && content.length > 0;
}

function single(bytes: Buffer, tagNumber: number): Read {
  const [first, ...more] = elementsOf(bytes);
  if (first?.tag !== tagNumber || more.length > 0) throw new SubjectFault("the subject is not a sequence");
  return first;
}

const contentOf = ({ content }: Read): Read[] => elementsOf(content);

function elementsOf(bytes: Buffer): Read[] {
  try {
    return readElements(bytes);
  } catch (error) {
    throw new SubjectFault("the subject is not well-formed DER", { cause: error });
  }
}

/** Whether the content is UCS-2: two bytes per character, without surrogates. */
function isBasicPlane(content: Buffer): boolean {
  return content.length % 2 === 0 && !/[\ud800-\udfff]/.test(basicPlaneText(content));
}

function basicPlaneText(content: Buffer): string {
  return Buffer.from(content).swap16().toString("utf16le");
}
