import { quotedText } from "../syntax/fault-text.ts";
import { cidrType, ipType } from "../types/opaque-types.ts";
import { Fault, OpaqueValue } from "./values.ts";

/** An IPv4 or IPv6 address without zone. */
export class IpAddress extends OpaqueValue {
  override readonly type = ipType;

  /** @param bytes 4 or 16 bytes. */
  constructor(readonly bytes: Uint8Array) {
    super();
  }

  override get size(): number {
    return this.bytes.length;
  }

  override equals(other: OpaqueValue): boolean {
    return other instanceof IpAddress && Buffer.compare(this.bytes, other.bytes) === 0;
  }

  /** The canonical text. */
  get text(): string {
    return addressText(this.bytes);
  }
}

/** An address with the length of a network prefix. */
export class Cidr extends OpaqueValue {
  override readonly type = cidrType;

  constructor(
    readonly address: IpAddress,
    readonly bits: number,
  ) {
    super();
  }

  override get size(): number {
    return Math.ceil(this.bits / 8);
  }

  override equals(other: OpaqueValue): boolean {
    return other instanceof Cidr && this.bits === other.bits && this.address.equals(other.address);
  }

  get text(): string {
    return `${this.address.text}/${this.bits}`;
  }

  /** Whether the first bits of an address of the same family equal those of the network. */
  contains({ bytes }: IpAddress, bits = this.bits): boolean {
    const own = this.address.bytes;
    if (own.length !== bytes.length) return false;
    return bytes.every((byte, index) => ((byte ^ own[index]!) & maskByte(index, bits)) === 0);
  }

  /** Returns the network with zeros after the prefix. */
  masked(): Cidr {
    const bytes = this.address.bytes.map((byte, index) => byte & maskByte(index, this.bits));
    return new Cidr(new IpAddress(bytes), this.bits);
  }
}

/** Returns a byte of a mask that has this number of leading ones. */
function maskByte(index: number, bits: number): number {
  const ones = Math.min(8, Math.max(0, bits - 8 * index));
  return 0xff & (0xff << (8 - ones));
}

/** Parses an IP address; a fault for zones and for IPv4 addresses that are mapped to IPv6. */
export function parseIp(text: string): IpAddress | Fault {
  const { bytes, error, zone } = parseAddress(text);
  if (bytes === undefined) {
    return new Fault(`IP Address ${quotedText(text)} parse error during conversion from string: ${error}`);
  }
  if (zone !== "") return new Fault(`IP address ${quotedText(text)} with zone value is not allowed`);
  if (isMapped(bytes)) return new Fault(`IPv4-mapped IPv6 address ${quotedText(text)} is not allowed`);
  return new IpAddress(bytes);
}

const conversion = "network address parse error during conversion from string: ";

/** Parses an address with prefix length, such as `10.0.0.0/8`. */
export function parseCidr(text: string): Cidr | Fault {
  const slash = text.lastIndexOf("/");
  const failed = (error: string): Fault =>
    new Fault(`${conversion}${conversion}netip.ParsePrefix(${quotedText(text)}): ${error}`);
  if (slash < 0) return failed("no '/'");
  const { bytes, error, zone } = parseAddress(text.slice(0, slash));
  if (bytes === undefined) return failed(error);
  if (zone !== "") return failed("IPv6 zones cannot be present in a prefix");
  const length = text.slice(slash + 1);
  if (!/^(?:0|[1-9]\d{0,17})$/.test(length)) return failed(`bad bits after slash: ${quotedText(length)}`);
  const bits = Number(length);
  if (bits > bytes.length * 8) return failed("prefix length out of range");
  if (isMapped(bytes))
    return new Fault(`${conversion}IPv4-mapped IPv6 address ${quotedText(text)} is not allowed`);
  return new Cidr(new IpAddress(bytes), bits);
}

function isMapped(bytes: Uint8Array): boolean {
  return bytes.length === 16 && bytes.every((byte, at) => at > 11 || byte === (at < 10 ? 0 : 0xff));
}

/** The bytes of an address, or the error. */
type Parsed =
  | { readonly bytes: Uint8Array; readonly zone: string; readonly error?: undefined }
  | { readonly bytes?: undefined; readonly zone?: undefined; readonly error: string };

/** An error of the parser; the message has the form of Go's `netip`. */
class AddressError extends Error {
  override name = "AddressError";
  constructor(
    message: string,
    readonly rest = "",
  ) {
    super(message);
  }
}

/** Longer texts aren't addresses, except for a zone, which isn't allowed. */
const maxLength = 4096;

function parseAddress(text: string): Parsed {
  try {
    if (text.length > maxLength) throw new AddressError("unable to parse IP");
    const mark = /[.:%]/.exec(text)?.[0];
    if (mark === ".") return { bytes: parseV4(text), zone: "" };
    if (mark === ":") return parseV6(text);
    throw new AddressError(mark === "%" ? "missing IPv6 address" : "unable to parse IP");
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    const at = error.rest === "" ? "" : ` (at ${quotedText(error.rest)})`;
    return { error: `ParseAddr(${quotedText(text)}): ${error.message}${at}` };
  }
}

function parseV4(text: string): Uint8Array {
  const fields: number[] = [];
  let value = 0;
  let digits = 0;
  for (let at = 0; at < text.length; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (digit >= 0 && digit <= 9) {
      if (digits === 1 && value === 0) throw new AddressError("IPv4 field has octet with leading zero");
      value = value * 10 + digit;
      digits++;
      if (value > 255) throw new AddressError("IPv4 field has value >255");
    } else if (text[at] === ".") {
      if (digits === 0 || at === text.length - 1) {
        throw new AddressError("IPv4 field must have at least one digit", text.slice(at));
      }
      if (fields.length === 3) throw new AddressError("IPv4 address too long");
      fields.push(value);
      value = 0;
      digits = 0;
    } else throw new AddressError("unexpected character", text.slice(at));
  }
  if (fields.length < 3) throw new AddressError("IPv4 address too short");
  return Uint8Array.of(...fields, value);
}

const groupForm = /^[\da-fA-F]*/;

function parseV6(text: string): Parsed {
  const percent = text.indexOf("%");
  const zone = percent < 0 ? "" : text.slice(percent + 1);
  if (percent >= 0 && zone === "") throw new AddressError("zone must be a non-empty string");
  const bytes: number[] = [];
  let rest = percent < 0 ? text : text.slice(0, percent);
  let ellipsis = -1;
  if (rest.startsWith("::")) {
    ellipsis = 0;
    rest = rest.slice(2);
  }
  while (bytes.length < 16 && !(rest === "" && ellipsis === bytes.length)) {
    const group = groupForm.exec(rest)![0];
    if (group.length > 4) throw new AddressError("each group must have 4 or less digits", rest);
    if (group === "") throw new AddressError("each colon-separated field must have at least one digit", rest);
    if (rest[group.length] === ".") {
      bytes.push(...embeddedV4(rest, bytes.length, ellipsis));
      rest = "";
      break;
    }
    const value = parseInt(group, 16);
    bytes.push(value >> 8, value & 0xff);
    rest = rest.slice(group.length);
    if (rest === "") break;
    if (rest[0] !== ":") throw new AddressError("unexpected character, want colon", rest);
    if (rest.length === 1) throw new AddressError("colon must be followed by more characters", rest);
    rest = rest.slice(1);
    if (rest[0] === ":") {
      if (ellipsis >= 0) throw new AddressError("multiple :: in address", rest);
      ellipsis = bytes.length;
      rest = rest.slice(1);
    }
  }
  if (rest !== "") throw new AddressError("trailing garbage after address", rest);
  return { bytes: expanded(bytes, ellipsis), zone };
}

/** Parses the IPv4 address at the end of an IPv6 address. */
function embeddedV4(rest: string, length: number, ellipsis: number): Uint8Array {
  if (ellipsis < 0 && length !== 12) {
    throw new AddressError("embedded IPv4 address must replace the final 2 fields of the address", rest);
  }
  if (length > 12) {
    throw new AddressError("too many hex fields to fit an embedded IPv4 at the end of the address", rest);
  }
  return parseV4(rest);
}

/** Inserts the zeros of `::`. */
function expanded(bytes: readonly number[], ellipsis: number): Uint8Array {
  if (bytes.length === 16) {
    if (ellipsis >= 0) throw new AddressError("the :: must expand to at least one field of zeros");
    return Uint8Array.from(bytes);
  }
  if (ellipsis < 0) throw new AddressError("address string too short");
  const zeros = Array<number>(16 - bytes.length).fill(0);
  return Uint8Array.of(...bytes.slice(0, ellipsis), ...zeros, ...bytes.slice(ellipsis));
}

/** Returns the canonical text of an address (RFC 5952): lower case, the longest run of two or more zero groups as `::`. */
export function addressText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join(".");
  const groups = Array.from({ length: 8 }, (_, at) => (bytes[2 * at]! << 8) | bytes[2 * at + 1]!);
  const { start, length } = longestZeros(groups);
  const text = (part: readonly number[]): string => part.map((group) => group.toString(16)).join(":");
  if (length < 2) return text(groups);
  return `${text(groups.slice(0, start))}::${text(groups.slice(start + length))}`;
}

/** Returns the first longest run of zeros. */
function longestZeros(groups: readonly number[]): { readonly start: number; readonly length: number } {
  let longest = { start: 0, length: 0 };
  for (let start = 0; start < groups.length; start++) {
    let end = start;
    while (groups[end] === 0) end++;
    if (end - start > longest.length) longest = { start, length: end - start };
  }
  return longest;
}
