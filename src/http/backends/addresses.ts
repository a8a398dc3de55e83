import { lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { allMachineAddresses, addressBytes } from "../../base/network/ip-address.ts";
import { StatusError } from "../../base/status-error.ts";

/**
 * Refused targets. A user who may write the status of a pod or node, or the endpoints of a service, can choose an
 * address to which the server connects, and the server's network position is better than theirs. These addresses never
 * belong to a pod or node: they would reach the server's machine, or services of its network that trust it.
 */
const refused = new BlockList();
refused.addSubnet("0.0.0.0", 8);
refused.addSubnet("169.254.0.0", 16);
refused.addSubnet("224.0.0.0", 4);
refused.addAddress("255.255.255.255");
// The unspecified address, and IPv6 forms of IPv4 addresses.
refused.addSubnet("::", 96, "ipv6");
refused.addSubnet("fe80::", 10, "ipv6");
refused.addSubnet("ff00::", 8, "ipv6");
// Local NAT64 prefixes: the position of the IPv4 address in them isn't known.
refused.addSubnet("64:ff9b:1::", 48, "ipv6");
// Metadata service of a cloud, which returns credentials (another one is link-local).
refused.addAddress("fd00:ec2::254", "ipv6");
refused.addAddress("100.100.100.200");
refused.addAddress("168.63.129.16");

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8);
loopback.addAddress("::1", "ipv6");

/** Rules for the target addresses of connections. */
export interface TargetRules {
  /** Whether connections to this machine are allowed: to loopback addresses and to those of its interfaces. */
  readonly allowLoopback: boolean;
  /** Further refused addresses. */
  readonly denied: BlockList;
  /** Returns the addresses of this machine's interfaces; default {@link allMachineAddresses}. */
  readonly own?: () => readonly string[];
}

/** Returns true for a refused address, and for a text that isn't an address. */
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
  return !rules.allowLoopback && isOwn(plain, type, rules.own ?? allMachineAddresses);
}

function isOwn(address: string, type: "ipv4" | "ipv6", own: () => readonly string[]): boolean {
  const list = new BlockList();
  for (const one of own()) list.addAddress(one.split("%", 1)[0]!, isIP(one) === 4 ? "ipv4" : "ipv6");
  return list.check(address, type);
}

/**
 * Returns the IPv4 address that is embedded in an IPv6 address: mapped (`::ffff:a.b.c.d`), NAT64 (`64:ff9b::a.b.c.d`,
 * RFC 6052) or 6to4 (`2002:aabb:ccdd::`, RFC 3056). Undefined for other addresses.
 */
function embeddedAddress(address: string): string | undefined {
  const bytes = addressBytes(address);
  const dotted = (at: number) => bytes.subarray(at, at + 4).join(".");
  if (bytes.readUInt16BE() === 0x2002) return dotted(2);
  return embeddingPrefixes.has(prefixOf(bytes)) ? dotted(12) : undefined;
}

/** Returns the first six groups, in hexadecimal. */
function prefixOf(bytes: Buffer): string {
  return bytes.toString("hex", 0, 12);
}

/** First six groups of mapped addresses (RFC 4291), translated ones (RFC 2765) and NAT64. */
const embeddingPrefixes = new Set(
  ["::ffff:0:0", "::ffff:0:0:0", "64:ff9b::"].map((prefix) => prefixOf(addressBytes(prefix))),
);

/** Returns the error for a refused address. */
export function addressRefused(address: string): StatusError {
  const why =
    address === ""
      ? "the object has no address yet"
      : "the server connects to no loopback, link-local, multicast, unspecified and metadata addresses, to none of its own machine, " +
        "and to none in ranges that its administrator denies (the setting --proxy-denied-cidrs)";
  return new StatusError("BadRequest", `address not allowed: ${JSON.stringify(address)}: ${why}`);
}

/** A host name resolves to a refused address. */
export class RefusedAddress extends Error {
  override name = "RefusedAddress";
  constructor(readonly address: string) {
    super(`address not allowed: ${address}`);
  }
}

/**
 * Returns a lookup function that checks the addresses of a host name. The connection goes to the checked addresses, so
 * a changing DNS answer has no effect. The callback gets a {@link RefusedAddress} if any address is refused.
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
 * Parses a list of ranges such as `10.0.0.0/8` or `fd00::/8`, and of single addresses.
 *
 * @throws {RangeError} an entry is neither; the message names it.
 */
export function deniedRanges(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = "", length, ...rest] = entry.split("/");
    const family = isIP(address);
    const maxPrefix = family === 4 ? 32 : 128;
    const bits = length === undefined ? maxPrefix : /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN;
    if (family === 0 || rest.length > 0 || !(bits <= maxPrefix))
      throw new RangeError(`${JSON.stringify(entry)} is neither an address nor a range such as 10.0.0.0/8`);
    list.addSubnet(address, bits, family === 4 ? "ipv4" : "ipv6");
  }
  return list;
}
