import { isIP, isIPv4, isIPv6 } from "node:net";
import { addressText } from "../../cel/values/ip-addresses.ts";
import { addressBytes, addressNumber } from "../../base/network/ip-address.ts";
import type { FieldReport } from "../../schema/faults.ts";

/** Warns of an address that isn't in its canonical form; values that aren't addresses have no warning. */
export function addressWarnings(path: string, text: string): string[] {
  if (!isAddress(text)) return [];
  const canonical = canonicalForm(text);
  if (isIPv4(text) || canonical === text) return [];
  return isMappedForm(canonical)
    ? [`${path}: non-standard IP address ${JSON.stringify(text)} is invalid: use the IPv4 address`]
    : [`${path}: IPv6 address "${text}" should be in RFC 5952 canonical format ("${canonical}")`];
}

/** Warns of a range of addresses that isn't in its canonical form. */
export function rangeWarnings(path: string, text: string): string[] {
  const range = text.trim();
  if (!isCidr(range)) return [];
  const [address = "", length = ""] = range.split("/");
  if (isIPv4(address)) return [];
  const canonical = `${canonicalForm(address)}/${Number(length)}`;
  return canonical === text
    ? []
    : [`${path}: IPv6 CIDR value "${text}" should be in RFC 5952 canonical format ("${canonical}")`];
}

/** The form of an address in RFC 5952, as URLs have it. */
function canonicalForm(text: string): string {
  return isIPv6(text) ? new URL(`http://[${text}]/`).hostname.slice(1, -1) : text;
}

const isMappedForm = (canonical: string): boolean => canonical.startsWith("::ffff:");

/** Requires an IPv4 or IPv6 address. */
export function ipAddress(text: string, report: FieldReport): void {
  if (!isAddress(text)) report.invalid(text, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
}

/** Returns true for an IP address without a zone. */
export function isAddress(text: string): boolean {
  return !text.includes("%") && isIP(text) !== 0;
}

/** Returns the canonical text of a valid address; that of an IPv4-mapped IPv6 address is an IPv4 address. */
export function canonicalAddress(text: string): string {
  if (isIPv4(text)) return text;
  const bytes = addressBytes(text);
  const isMapped = addressNumber(text) >> 32n === 0xffffn;
  return addressText(isMapped ? bytes.subarray(12) : bytes);
}

/** Returns true for a range of addresses in CIDR notation. */
export function isCidr(text: string): boolean {
  const match = /^([^/]+)\/(\d{1,3})$/.exec(text);
  if (match === null || !isAddress(match[1]!)) return false;
  return Number(match[2]) <= (isIPv4(match[1]!) ? 32 : 128);
}

/** Requires a range of addresses in canonical form. */
export function checkCidr(text: string, report: FieldReport): void {
  if (!isCidr(text)) {
    return report.invalid(text, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
  }
  const [address = "", length = ""] = text.split("/");
  if (length.length > 1 && length.startsWith("0")) {
    return report.invalid(text, "must not have leading 0s in IP or prefix length");
  }
  const bits = BigInt((isIPv4(address) ? 32 : 128) - Number(length));
  const number = addressNumber(address);
  if (!isIPv4(address) && number >> 32n === 0xffffn) {
    return report.invalid(text, "must not have an IPv4-mapped IPv6 address");
  }
  if ((number >> bits) << bits !== number) {
    return report.invalid(text, "must not have bits set beyond the prefix length");
  }
  const canonical = `${canonicalAddress(address)}/${length}`;
  if (canonical !== text) report.invalid(text, `must be in canonical form ("${canonical}")`);
}

/** Returns the family of a valid address; an IPv4-mapped IPv6 address counts as IPv4. */
export function familyOf(text: string): "IPv4" | "IPv6" {
  return bitsOf(text).family;
}

/** Returns the family of a valid range of addresses. */
export function cidrFamily(text: string): "IPv4" | "IPv6" {
  return isIPv4(text.slice(0, text.indexOf("/"))) ? "IPv4" : "IPv6";
}

/** Returns the prefix length of a valid range of addresses. */
export function prefixLength(cidr: string): number {
  return Number(cidr.slice(cidr.indexOf("/") + 1));
}

/** Returns true if all addresses of the inner range, which must be smaller, are in the outer one. Both must be valid. */
export function isInside(inner: string, outer: string): boolean {
  return prefixLength(inner) > prefixLength(outer) && contains(rangeOf(outer), bitsOf(inner.split("/")[0]!));
}

const notForServing: readonly (readonly [words: string, ranges: readonly Range[]])[] = [
  ["may not be unspecified", ["0.0.0.0/32", "::/128"].map(rangeOf)],
  ["may not be in the loopback range (127.0.0.0/8, ::1/128)", ["127.0.0.0/8", "::1/128"].map(rangeOf)],
  ["may not be link-local (169.254.0.0/16, fe80::/10)", ["169.254.0.0/16", "fe80::/10"].map(rangeOf)],
  ["may not be link-local multicast (224.0.0.0/24, ff02::/16)", ["224.0.0.0/24", "ff02::/16"].map(rangeOf)],
];

/** Requires an address that others can reach: not unspecified, loopback or link-local. */
export function reachableAddress(text: string, report: FieldReport): void {
  if (!isAddress(text)) return report.invalid(text, "must be a valid IP address");
  const address = bitsOf(text);
  for (const [words, ranges] of notForServing) {
    if (ranges.some((range) => contains(range, address))) report.invalid(text, words);
  }
}

interface Bits {
  readonly family: "IPv4" | "IPv6";
  readonly value: bigint;
}

interface Range extends Bits {
  /** Number of host bits. */
  readonly free: bigint;
}

function rangeOf(cidr: string): Range {
  const { family, value } = bitsOf(cidr.split("/")[0]!);
  return { family, value, free: BigInt((family === "IPv4" ? 32 : 128) - prefixLength(cidr)) };
}

function contains(range: Range, address: Bits): boolean {
  return range.family === address.family && range.value >> range.free === address.value >> range.free;
}

function bitsOf(text: string): Bits {
  const value = addressNumber(text);
  if (isIPv4(text)) return { family: "IPv4", value };
  return value >> 32n === 0xffffn
    ? { family: "IPv4", value: value & 0xffff_ffffn }
    : { family: "IPv6", value };
}
