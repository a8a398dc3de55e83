import { applies, gate, since } from "../../base/release-rows.ts";
import { isIPv4 } from "node:net";
import { addressNumber } from "../../base/network/ip-address.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { isAddress, isCidr } from "./addresses.ts";

type Context = Pick<KindContext, "enabled" | "release">;

/** Whether addresses that programs read differently are rejected. */
export const rejectsAmbiguous = applies(since("1.36", gate("StrictIPCIDRValidation")));

/**
 * Rejects a valid address that programs read differently: an IPv4-mapped IPv6 address.
 *
 * @param existing the addresses of the stored object, which remain valid.
 */
export function unambiguousAddress(
  text: string,
  report: FieldReport,
  context: Context,
  existing: readonly string[] = [],
): void {
  if (!rejectsAmbiguous(context) || existing.includes(text) || !isAddress(text)) return;
  if (isMapped(text)) report.invalid(text, "must not be an IPv4-mapped IPv6 address");
}

/**
 * Rejects a valid range of addresses that programs read differently: with leading zeros, an IPv4-mapped IPv6 address or host bits.
 *
 * @param existing the ranges of the stored object, which remain valid.
 */
export function unambiguousRange(
  text: string,
  report: FieldReport,
  context: Context,
  existing: readonly string[] = [],
): void {
  if (!rejectsAmbiguous(context) || existing.includes(text) || !isCidr(text)) return;
  const [address = "", length = ""] = text.split("/");
  if (length.length > 1 && length.startsWith("0"))
    return report.invalid(text, "must not have leading 0s in IP or prefix length");
  if (isMapped(address)) return report.invalid(text, "must not have an IPv4-mapped IPv6 address");
  const freeBits = BigInt((isIPv4(address) ? 32 : 128) - Number(length));
  const number = addressNumber(address);
  if ((number >> freeBits) << freeBits !== number)
    report.invalid(text, "must not have bits set beyond the prefix length");
}

function isMapped(address: string): boolean {
  return !isIPv4(address) && addressNumber(address) >> 32n === 0xffffn;
}
