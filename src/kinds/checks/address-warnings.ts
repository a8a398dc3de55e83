import { isIPv4, isIPv6 } from "node:net";
import { isAddress, isCidr } from "./addresses.ts";

/** Warns of an address that isn't in its canonical form; values that aren't addresses have no warning. */
export function addressWarnings(path: string, text: string): string[] {
  if (!isAddress(text)) return [];
  const canonical = canonicalAddress(text);
  if (isIPv4(text) || canonical === text) return [];
  return isMapped(canonical)
    ? [`${path}: non-standard IP address ${JSON.stringify(text)} is invalid: use the IPv4 address`]
    : [`${path}: IPv6 address "${text}" should be in RFC 5952 canonical format ("${canonical}")`];
}

/** Warns of a range of addresses that isn't in its canonical form. */
export function rangeWarnings(path: string, text: string): string[] {
  const range = text.trim();
  if (!isCidr(range)) return [];
  const [address = "", length = ""] = range.split("/");
  if (isIPv4(address)) return [];
  const canonical = `${canonicalAddress(address)}/${Number(length)}`;
  return canonical === text
    ? []
    : [`${path}: IPv6 CIDR value "${text}" should be in RFC 5952 canonical format ("${canonical}")`];
}

/** The form of an address in RFC 5952, as URLs have it. */
function canonicalAddress(text: string): string {
  return isIPv6(text) ? new URL(`http://[${text}]/`).hostname.slice(1, -1) : text;
}

const isMapped = (canonical: string): boolean => canonical.startsWith("::ffff:");
