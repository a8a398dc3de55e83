import { addressBytes, isAddress } from "./ip-address.ts";

/** Length of the network prefix of an IPv6 site, in bytes. */
const networkBytes = 8;
const mappedPrefix = "00000000000000000000ffff";

/**
 * Returns the network of a client's address, by which limits are shared fairly: the address itself in IPv4, the /64 network
 * in IPv6, because one client has all its addresses. Text that isn't an address is returned unchanged.
 */
export function clientNetwork(address: string): string {
  if (!address.includes(":") || !isAddress(address)) return address;
  const bytes = addressBytes(address);
  const hex = bytes.toString("hex");
  return hex.startsWith(mappedPrefix) ? [...bytes.subarray(-4)].join(".") : hex.slice(0, networkBytes * 2);
}
