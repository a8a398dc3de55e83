import { addressBytes, isAddress } from "./ip-address.ts";

/** Bytes of an IPv6 address that a site gets as one network: 64 bits. */
const networkBytes = 8;
const mappedPrefix = "00000000000000000000ffff";

/**
 * The network that a client's address stands for when clients share something fairly: the address itself in IPv4, the
 * network of 64 bits in IPv6, where one client has as many addresses as it wants. Text that isn't an address stands for
 * itself.
 */
export function clientNetwork(address: string): string {
  if (!address.includes(":") || !isAddress(address)) return address;
  const bytes = addressBytes(address);
  const hex = bytes.toString("hex");
  return hex.startsWith(mappedPrefix) ? [...bytes.subarray(-4)].join(".") : hex.slice(0, networkBytes * 2);
}
