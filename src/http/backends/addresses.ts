import { lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { networkInterfaces } from "node:os";
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
// Translation prefixes of a network's own: where in them the address of the older family stands isn't known.
refused.addSubnet("64:ff9b:1::", 48, "ipv6");
// Where clouds tell machines their credentials (another one is link-local).
refused.addAddress("fd00:ec2::254", "ipv6");
refused.addAddress("100.100.100.200");
refused.addAddress("168.63.129.16");

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8);
loopback.addAddress("::1", "ipv6");

/** To which addresses connections may go. */
export interface TargetRules {
  /** Whether connections may go to this machine itself: to loopback addresses, and to those of its interfaces. */
  readonly allowLoopback: boolean;
  /** Further addresses to which no connection may go. */
  readonly denied: BlockList;
  /** The addresses of this machine's interfaces; {@link ownAddresses} unless given. */
  readonly own?: () => readonly string[];
}

/** The addresses that this machine's interfaces have now. */
export function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
}

/** Whether no connection may go to an address. What isn't an address is refused too. */
export function isRefused(address: string, rules: TargetRules): boolean {
  const plain = address.split("%", 1)[0]!;
  const family = isIP(plain);
  if (family === 0) return true;
  const type = family === 4 ? "ipv4" : "ipv6";
  const embedded = family === 6 ? embeddedAddress(plain) : undefined;
  if (embedded !== undefined && isRefused(embedded, rules)) return true;
  if (rules.denied.check(plain, type)) return true;
  if (loopback.check(plain, type)) return !rules.allowLoopback;
  if (refused.check(plain, type)) return true;
  return !rules.allowLoopback && isOwn(plain, type, rules.own ?? ownAddresses);
}

function isOwn(address: string, type: "ipv4" | "ipv6", own: () => readonly string[]): boolean {
  const list = new BlockList();
  for (const one of own()) list.addAddress(one.split("%", 1)[0]!, isIP(one) === 4 ? "ipv4" : "ipv6");
  return list.check(address, type);
}

/**
 * The address of the older family that a network or its gateways take out of one of the newer family: mapped
 * (`::ffff:a.b.c.d`), NAT64 (`64:ff9b::a.b.c.d`, RFC 6052) or 6to4 (`2002:aabb:ccdd::`, RFC 3056). Undefined for any other.
 */
function embeddedAddress(address: string): string | undefined {
  const groups = groupsOf(address);
  const dotted = (at: number) => {
    const [high, low] = [groups[at]!, groups[at + 1]!];
    return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
  };
  if (groups[0] === 0x2002) return dotted(1);
  const prefix = groups.slice(0, 6).join(":");
  return embeddingPrefixes.has(prefix) ? dotted(6) : undefined;
}

/** The first six groups of mapped addresses (RFC 4291), translated ones (RFC 2765) and those of NAT64. */
const embeddingPrefixes = new Set(
  ["::ffff:0:0", "::ffff:0:0:0", "64:ff9b::"].map((prefix) => groupsOf(prefix).slice(0, 6).join(":")),
);

/** The eight groups of an address of the newer family. */
function groupsOf(address: string): number[] {
  // As a URL's host, the address is written in groups alone, with at most one gap.
  const [before = "", after] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split("::");
  const parse = (text: string) =>
    text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
  const [left, right] = [parse(before), parse(after ?? "")];
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => 0), ...right];
}

/** The refusal of an address. */
export function addressRefused(address: string): StatusError {
  const why =
    "it is a loopback, link-local, multicast, unspecified or metadata address, one of this machine, one that is denied by " +
    "--proxy-denied-cidrs, or none at all";
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
export function guardedLookup(rules: TargetRules): LookupFunction {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, []);
      const bad = found.find(({ address }) => isRefused(address, rules));
      if (bad !== undefined) return callback(new RefusedAddress(bad.address), []);
      if (options.all === true) callback(null, found);
      else callback(null, found[0]!.address, found[0]!.family);
    });
  };
}

/**
 * The list of ranges such as `10.0.0.0/8` or `fd00::/8`, and of single addresses.
 *
 * @throws {RangeError} naming the entry that is neither.
 */
export function deniedRanges(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = "", length, ...rest] = entry.split("/");
    const family = isIP(address);
    const most = family === 4 ? 32 : 128;
    const bits = length === undefined ? most : /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN;
    if (family === 0 || rest.length > 0 || !(bits <= most))
      throw new RangeError(`${JSON.stringify(entry)} is neither an address nor a range such as 10.0.0.0/8`);
    list.addSubnet(address, bits, family === 4 ? "ipv4" : "ipv6");
  }
  return list;
}
