import { isIP } from "node:net";
import type { HttpExchange } from "../transport/http-exchange.ts";

/**
 * Returns the source addresses of a request, original sender first: those of `X-Forwarded-For` and `X-Real-Ip`, then
 * the address of the connection, which is the only one that a client can't forge.
 */
export function sourceAddresses(exchange: HttpExchange): readonly string[] {
  const forwarded = exchange.header("x-forwarded-for");
  const real = exchange.header("x-real-ip");
  const remote = plain(exchange.connection.remoteAddress);
  if (forwarded === undefined && real === undefined) return remote === "" ? [] : [remote];
  const addresses = (forwarded ?? "")
    .split(",")
    .map((one) => plain(one.trim()))
    .filter(isAddress);
  const realAddress = plain((real ?? "").trim());
  if (isAddress(realAddress) && !addresses.includes(realAddress)) addresses.push(realAddress);
  if (remote !== "" && addresses.at(-1) !== remote) addresses.push(remote);
  return addresses;
}

function isAddress(text: string): boolean {
  return isIP(text) !== 0;
}

/** Converts an IPv4-mapped IPv6 address to IPv4. */
function plain(address: string): string {
  return address.startsWith("::ffff:") && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}
