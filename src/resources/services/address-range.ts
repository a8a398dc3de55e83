import { isIPv4, isIPv6 } from "node:net";
import { addressNumber } from "../../base/network/ip-address.ts";

/** Maximum number of used addresses of a range; an IPv6 range has more than a cluster can use. */
const maxSize = 65_536n;

/** A range of service addresses, such as `10.0.0.0/24`. */
export class AddressRange {
  private constructor(
    readonly text: string,
    readonly family: "IPv4" | "IPv6",
    private readonly base: bigint,
    /** Number of allocatable addresses: without the first of the range and, for IPv4, the last. */
    readonly size: number,
  ) {}

  /** Parses CIDR notation; undefined if it is invalid or the range has no allocatable address. */
  static parse(text: string): AddressRange | undefined {
    const [address = "", prefix = "", ...more] = text.split("/");
    const bits = isIPv4(address) ? 32 : isIPv6(address) && !address.includes("%") ? 128 : 0;
    if (bits === 0 || more.length > 0 || !/^\d{1,3}$/.test(prefix) || Number(prefix) > bits) return undefined;
    const whole = 1n << BigInt(bits - Number(prefix));
    const usable = (whole > maxSize ? maxSize : whole) - (bits === 32 ? 2n : 1n);
    if (usable < 1n) return undefined;
    const base = (addressNumber(address) / whole) * whole;
    return new AddressRange(text, bits === 32 ? "IPv4" : "IPv6", base, Number(usable));
  }

  /** Whether an address is allocatable. */
  contains(address: string): boolean {
    if ((isIPv4(address) ? "IPv4" : "IPv6") !== this.family) return false;
    const offset = addressNumber(address) - this.base;
    return offset >= 1n && offset <= BigInt(this.size);
  }

  /** The index of an address for {@link AddressRange.at}; undefined if it isn't allocatable. */
  indexOf(address: string): number | undefined {
    return this.contains(address) ? Number(addressNumber(address) - this.base - 1n) : undefined;
  }

  /** The allocatable address with an index of at least 0 and less than `size`. */
  at(index: number): string {
    return addressText(this.base + BigInt(index + 1), this.family);
  }

  /** Number of addresses at the beginning that are used for requested addresses, and otherwise only if no other is free. */
  get reserved(): number {
    const part = Math.floor(this.size / 16);
    return this.size <= 16 ? 0 : Math.min(256, Math.max(16, part));
  }
}

/** The canonical text of an address. */
export function canonicalAddress(address: string): string {
  return addressText(addressNumber(address), isIPv4(address) ? "IPv4" : "IPv6");
}

function addressText(number: bigint, family: "IPv4" | "IPv6"): string {
  if (family === "IPv4") {
    return [24n, 16n, 8n, 0n].map((shift) => String((number >> shift) & 255n)).join(".");
  }
  const groups = Array.from({ length: 8 }, (_, i) =>
    ((number >> BigInt(112 - 16 * i)) & 0xffffn).toString(16),
  );
  // The longest run of zeros is shortened to `::` (RFC 5952).
  const runs = [...groups.join(":").matchAll(/(?:^|:)0(?::0)+(?=:|$)/g)].toSorted(
    (a, b) => b[0].length - a[0].length,
  );
  const run = runs[0];
  if (run === undefined) return groups.join(":");
  const text = groups.join(":");
  return `${text.slice(0, run.index)}::${text.slice(run.index + run[0].length).replace(/^:/, "")}`;
}
