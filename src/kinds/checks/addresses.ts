import { isIP, isIPv4 } from "node:net";
import type { FieldReport } from "../../schema/faults.ts";

/** An address of IPv4 or IPv6. */
export function ipAddress(text: string, place: FieldReport): void {
  if (!isAddress(text)) place.invalid(text, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
}

/** Whether a text is an address, without a zone. */
export function isAddress(text: string): boolean {
  return !text.includes("%") && isIP(text) !== 0;
}

/** A range of addresses: `192.0.2.0/24`. */
export function cidr(text: string, place: FieldReport): void {
  if (!isCidr(text)) place.invalid(text, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
}

/** Whether a text is a range of addresses. */
export function isCidr(text: string): boolean {
  const match = /^([^/]+)\/(\d{1,3})$/.exec(text);
  if (match === null || !isAddress(match[1]!)) return false;
  return Number(match[2]) <= (isIPv4(match[1]!) ? 32 : 128);
}
