import { lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { StatusError } from "../../base/status-error.ts";

/**
 * Whoever may write the status of a pod or node, or the endpoints of a service, chooses an address that the server
 * connects to, from its own place in the network. These are addresses that are never a pod's or node's: they would reach
 * the server's own machine, or services of its network that trust it.
 */
const refused = new BlockList();
refused.addSubnet("0.0.0.0", 8);
refused.addSubnet("169.254.0.0", 16);
refused.addSubnet("224.0.0.0", 4);
refused.addAddress("255.255.255.255");
// The unspecified address, and addresses that stand for those of the older family.
refused.addSubnet("::", 96, "ipv6");
refused.addSubnet("fe80::", 10, "ipv6");
refused.addSubnet("ff00::", 8, "ipv6");

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8);
loopback.addAddress("::1", "ipv6");

/** Whether no connection may go to an address. What isn't an address is refused too. */
export function isRefused(address: string, allowLoopback: boolean): boolean {
  const plain = address.split("%", 1)[0]!;
  const family = isIP(plain);
  if (family === 0) return true;
  const type = family === 4 ? "ipv4" : "ipv6";
  if (loopback.check(plain, type)) return !allowLoopback;
  return refused.check(plain, type);
}

/** The refusal of an address. */
export function addressRefused(address: string): StatusError {
  const why = "it is a loopback, link-local, multicast or unspecified address, or none at all";
  return new StatusError("BadRequest", `address not allowed: ${JSON.stringify(address)}: ${why}`);
}

/** A host's name stands for an address to which no connection may go. */
export class RefusedAddress extends Error {
  override name = "RefusedAddress";
  constructor(readonly address: string) {
    super(`address not allowed: ${address}`);
  }
}

/**
 * Looks a host's name up for a connection, which then goes to the very addresses that were judged: a name that changes
 * its mind in between changes nothing.
 * The callback gets a {@link RefusedAddress} when any of the addresses is refused.
 */
export function guardedLookup(allowLoopback: boolean): LookupFunction {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, []);
      const bad = found.find(({ address }) => isRefused(address, allowLoopback));
      if (bad !== undefined) return callback(new RefusedAddress(bad.address), []);
      if (options.all === true) callback(null, found);
      else callback(null, found[0]!.address, found[0]!.family);
    });
  };
}
