import { isIP, isIPv4 } from "node:net";
import { addressNumber } from "../../base/ip-address.ts";
import type { FieldReport } from "../../schema/faults.ts";

/** An address of IPv4 or IPv6. */
export function ipAddress(text: string, place: FieldReport): void {
  if (!isAddress(text)) place.invalid(text, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
}

/** Whether a text is an address, without a zone. */
export function isAddress(text: string): boolean {
  return !text.includes("%") && isIP(text) !== 0;
}

/** Whether a text is a range of addresses. */
export function isCidr(text: string): boolean {
  const match = /^([^/]+)\/(\d{1,3})$/.exec(text);
  if (match === null || !isAddress(match[1]!)) return false;
  return Number(match[2]) <= (isIPv4(match[1]!) ? 32 : 128);
}

/** The family of an address, for addresses that are valid; IPv4 written as IPv6 counts as IPv4. */
export function familyOf(text: string): "IPv4" | "IPv6" {
  return bitsOf(text).family;
}

/** The family of a range of addresses that is valid. */
export function cidrFamily(text: string): "IPv4" | "IPv6" {
  return isIPv4(text.slice(0, text.indexOf("/"))) ? "IPv4" : "IPv6";
}

/** The length of the fixed part of a range of addresses that is valid. */
export function prefixLength(cidr: string): number {
  return Number(cidr.slice(cidr.indexOf("/") + 1));
}

/** Whether all addresses of the inner range, which must be smaller, are in the outer one; both are valid. */
export function isInside(inner: string, outer: string): boolean {
  return prefixLength(inner) > prefixLength(outer) && contains(rangeOf(outer), bitsOf(inner.split("/")[0]!));
}

const notForServing: readonly (readonly [words: string, ranges: readonly Range[]])[] = [
  ["may not be unspecified", ["0.0.0.0/32", "::/128"].map(rangeOf)],
  ["may not be in the loopback range (127.0.0.0/8, ::1/128)", ["127.0.0.0/8", "::1/128"].map(rangeOf)],
  ["may not be link-local (169.254.0.0/16, fe80::/10)", ["169.254.0.0/16", "fe80::/10"].map(rangeOf)],
  ["may not be link-local multicast (224.0.0.0/24, ff02::/16)", ["224.0.0.0/24", "ff02::/16"].map(rangeOf)],
];

/** An address that others can reach: neither unspecified nor loopback nor link-local. */
export function reachableAddress(text: string, place: FieldReport): void {
  if (!isAddress(text)) return place.invalid(text, "must be a valid IP address");
  const address = bitsOf(text);
  for (const [words, ranges] of notForServing) {
    if (ranges.some((range) => contains(range, address))) place.invalid(text, words);
  }
}

interface Bits {
  readonly family: "IPv4" | "IPv6";
  readonly value: bigint;
}

interface Range extends Bits {
  /** How many bits at the end are free. */
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
