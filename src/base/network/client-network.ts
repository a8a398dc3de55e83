import { addressBytes, isAddress } from "./ip-address.ts";

/** Bytes of an IPv6 network prefix (/64). */
const networkBytes = 8;
const mappedPrefix = "00000000000000000000ffff";

/**
 * Returns the key of a client for fair sharing: the address in IPv4, the /64 network in IPv6, because one client can use any
 * address of its network. Text that isn't an address is returned unchanged.
 */
export function clientNetwork(address: string): string {
  if (!address.includes(":") || !isAddress(address)) return address;
  const bytes = addressBytes(address);
  const hex = bytes.toString("hex");
  return hex.startsWith(mappedPrefix) ? [...bytes.subarray(-4)].join(".") : hex.slice(0, networkBytes * 2);
}
