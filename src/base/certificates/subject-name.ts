import { isAscii, isUtf8 } from "node:buffer";
import { type Read, readElements } from "./der.ts";

/** Whom a certificate, or a request for one, names (spec: conventions 5.1). */
export interface SubjectName {
  /** In order; the last one is the user's name. */
  readonly commonNames: readonly string[];
  /** The user's groups. */
  readonly organizations: readonly string[];
}

/** A subject that isn't well-formed. The message says which attribute, and what is wrong with it. */
export class SubjectFault extends Error {
  override name = "SubjectFault";
}

/** Identifiers of attributes (RFC 5280), encoded, in hexadecimal: `id-at-commonName` and `id-at-organizationName`. */
const commonName = "550403";
const organizationName = "55040a";

/** Longer subjects are refused, so that reading one takes little time. */
const maxBytes = 64 * 1024;

const tag = { identifier: 0x06, sequence: 0x30, set: 0x31 } as const;

/** A type of text in ASN.1: which content it allows, and the text that it stands for. */
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
 * The types of text that a subject may have, by their tags: those that other programs of a cluster read too. `*` and `&`
 * aren't in the standard's PrintableString, but widely used in it.
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
 * Reads the subject of a certificate or of a request for one. Signers, admission and authentication all read subjects here,
 * so that none of them sees another user or group than the others.
 *
 * @param name the subject (Name of RFC 5280) in DER.
 * @throws {SubjectFault} it isn't well-formed, or the value of an attribute isn't a text of its type.
 */
export function readSubject(name: Buffer): SubjectName {
  if (name.length > maxBytes) throw new SubjectFault(`the subject is longer than ${maxBytes} bytes`);
  const commonNames: string[] = [];
  const organizations: string[] = [];
  for (const [index, attribute] of attributesOf(name).entries()) {
    const { type, text } = readAttribute(attribute, index);
    if (type === commonName) commonNames.push(text);
    if (type === organizationName) organizations.push(text);
  }
  return { commonNames, organizations };
}

/** The attributes of a name, in order: it is a sequence of sets of them. */
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
  // Some programs read a text only up to this character, and so another name.
  if (text.includes("\0")) throw fault("contains a NUL character");
  return { type: type.content.toString("hex"), text };
}

/** Whether each number of an object identifier is written in the one way that DER allows. */
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

/** Two bytes a character, none of them a surrogate. */
function isBasicPlane(content: Buffer): boolean {
  return content.length % 2 === 0 && !/[\ud800-\udfff]/.test(basicPlaneText(content));
}

function basicPlaneText(content: Buffer): string {
  return Buffer.from(content).swap16().toString("utf16le");
}
