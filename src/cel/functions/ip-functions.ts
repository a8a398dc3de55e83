import { declareFunction, traversal, type CelFunction, type Run } from "./function-table.ts";
import { Cidr, IpAddress, parseCidr, parseIp } from "../values/ip-addresses.ts";
import { sizeOf, type Meter } from "../costs/meter.ts";
import { Fault, noOverload, type Value } from "../values/values.ts";

/** Meter steps for parsing a character. */
const stepsPerCharacter = 3;
/** Meter steps for parsing an address or creating its text, in addition to the characters. */
const stepsPerAddress = 100;

/** Counts the work of parsing a text. */
function countParsing(text: string, meter: Meter): void {
  meter.work(text.length * stepsPerCharacter + stepsPerAddress);
}

/** Adapts a function of a string that is parsed. */
function ofText(run: (text: string) => Value): Run {
  return ([text], meter) => {
    if (typeof text !== "string") return noOverload;
    countParsing(text, meter);
    return run(text);
  };
}

function ofIp(run: (bytes: Uint8Array) => Value): CelFunction {
  return declareFunction(["ip.() -> bool"], ([ip]) => (ip instanceof IpAddress ? run(ip.bytes) : noOverload));
}

const isV4 = (bytes: Uint8Array): boolean => bytes.length === 4;
const startsWith = (bytes: Uint8Array, ...start: readonly number[]): boolean =>
  start.every((byte, at) => bytes[at] === byte);
const isUnspecified = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0);
const isLoopback = (bytes: Uint8Array): boolean =>
  isV4(bytes) ? bytes[0] === 127 : bytes.every((byte, at) => byte === (at === 15 ? 1 : 0));
const isMulticast = (bytes: Uint8Array): boolean =>
  isV4(bytes) ? (bytes[0]! & 0xf0) === 0xe0 : bytes[0] === 0xff;
const isLinkLocalMulticast = (bytes: Uint8Array): boolean =>
  isV4(bytes) ? startsWith(bytes, 224, 0, 0) : bytes[0] === 0xff && (bytes[1]! & 0x0f) === 2;
const isLinkLocalUnicast = (bytes: Uint8Array): boolean =>
  isV4(bytes) ? startsWith(bytes, 169, 254) : bytes[0] === 0xfe && (bytes[1]! & 0xc0) === 0x80;
const isBroadcast = (bytes: Uint8Array): boolean => isV4(bytes) && bytes.every((byte) => byte === 0xff);
const notGlobal = [isUnspecified, isBroadcast, isLoopback, isMulticast, isLinkLocalUnicast];

const byText: Pick<CelFunction, "cost"> = { cost: traversal };

/** Returns the canonical text of an address or a network. */
function textOf(value: Value, meter: Meter): Value {
  if (!(value instanceof IpAddress || value instanceof Cidr)) return noOverload;
  meter.work(stepsPerAddress);
  return value.text;
}

/** Functions of IP addresses. */
export const ipFunctions: readonly (readonly [string, CelFunction])[] = [
  ["ip", declareFunction(["(string) -> ip"], ofText(parseIp), byText)],
  [
    "isIP",
    declareFunction(
      ["(string) -> bool"],
      ofText((text) => !(parseIp(text) instanceof Fault)),
      byText,
    ),
  ],
  [
    "ip.isCanonical",
    declareFunction(
      ["(string) -> bool"],
      ofText((text) => {
        const address = parseIp(text);
        return address instanceof Fault ? address : address.text === text;
      }),
      { cost: (size) => Math.ceil(size * 0.2) },
    ),
  ],
  [
    "family",
    declareFunction(["ip.() -> int"], ([ip]) =>
      ip instanceof IpAddress ? (isV4(ip.bytes) ? 4n : 6n) : noOverload,
    ),
  ],
  ["isUnspecified", ofIp(isUnspecified)],
  ["isLoopback", ofIp(isLoopback)],
  ["isLinkLocalMulticast", ofIp(isLinkLocalMulticast)],
  ["isLinkLocalUnicast", ofIp(isLinkLocalUnicast)],
  ["isGlobalUnicast", ofIp((bytes) => !notGlobal.some((isSpecial) => isSpecial(bytes)))],
  [
    "string",
    declareFunction(["(ip) -> string"], ([ip], meter) => textOf(ip!, meter), {
      accepts: ([ip]) => ip instanceof IpAddress,
    }),
  ],
];

/** Charges the comparison of an address with a prefix. */
function chargeContains(args: readonly Value[], meter: Meter, more: (prefixSize: number) => number): void {
  const [network, other] = args;
  const prefixSize = sizeOf(network!);
  const parse = typeof other === "string" ? traversal(sizeOf(other)) : 0;
  if (typeof other === "string") countParsing(other, meter);
  meter.charge(traversal(2 * prefixSize) + more(prefixSize) + parse);
}

function containsIp(network: Value, other: Value): Value {
  const address = typeof other === "string" ? parseIp(other) : other;
  return network instanceof Cidr && address instanceof IpAddress ? network.contains(address) : noOverload;
}

function containsCidr(network: Value, other: Value): Value {
  const inner = typeof other === "string" ? parseCidr(other) : other;
  if (inner instanceof Fault) return inner;
  if (!(network instanceof Cidr && inner instanceof Cidr)) return noOverload;
  return network.bits <= inner.bits && network.contains(inner.address);
}

function ofCidr(signature: string, run: (network: Cidr, meter: Meter) => Value): CelFunction {
  return declareFunction(
    [signature],
    ([network], meter) => (network instanceof Cidr ? run(network, meter) : noOverload),
    { accepts: ([network]) => network instanceof Cidr },
  );
}

/** Functions of networks. */
export const cidrFunctions: readonly (readonly [string, CelFunction])[] = [
  ["cidr", declareFunction(["(string) -> cidr"], ofText(parseCidr), byText)],
  [
    "isCIDR",
    declareFunction(
      ["(string) -> bool"],
      ofText((text) => !(parseCidr(text) instanceof Fault)),
      byText,
    ),
  ],
  [
    "containsIP",
    declareFunction(
      ["cidr.(string) -> bool", "cidr.(ip) -> bool"],
      ([network, other]) => containsIp(network!, other!),
      { charge: (args, meter) => chargeContains(args, meter, () => 0) },
    ),
  ],
  [
    "containsCIDR",
    declareFunction(
      ["cidr.(string) -> bool", "cidr.(cidr) -> bool"],
      ([network, other]) => containsCidr(network!, other!),
      { charge: (args, meter) => chargeContains(args, meter, (size) => traversal(size) + 1) },
    ),
  ],
  ["ip", ofCidr("cidr.() -> ip", ({ address }) => address)],
  ["prefixLength", ofCidr("cidr.() -> int", ({ bits }) => BigInt(bits))],
  ["masked", ofCidr("cidr.() -> cidr", (network) => network.masked())],
  ["string", ofCidr("(cidr) -> string", textOf)],
];
