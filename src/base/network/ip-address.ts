import { isIPv4 } from "node:net";
import { networkInterfaces, type NetworkInterfaceInfo } from "node:os";

const v6Characters = /^[\da-f:.]+$/i;
const zoneForm = /^[\da-z.:-]+$/i;

/**
 * Whether a text is an IPv4 or IPv6 address, with or without a zone. Same result as `isIP` of node:net, whose regular
 * expression for IPv6 takes 4 ms to compile on first use.
 */
export function isAddress(text: string): boolean {
  if (isIPv4(text)) return true;
  const percent = text.indexOf("%");
  const address = percent === -1 ? text : text.slice(0, percent);
  if (!v6Characters.test(address) || !address.includes(":")) return false;
  if (percent !== -1 && !zoneForm.test(text.slice(percent + 1))) return false;
  return URL.canParse(`http://[${address}]`);
}

/** Returns the 4 or 16 bytes of an IP address. */
export function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split(".").map(Number));
  // The URL parser normalizes IPv6 addresses: hexadecimal groups, the longest run of zeros as "::".
  const canonical = new URL(`http://[${address.split("%", 1)[0]!}]`).hostname.slice(1, -1);
  const [head = "", tail] = canonical.split("::");
  const groups = (part: string): string[] => (part === "" ? [] : part.split(":"));
  const last = tail === undefined ? [] : groups(tail);
  const zeros = Array<string>(8 - groups(head).length - last.length).fill("0");
  return Buffer.from(
    [...groups(head), ...zeros, ...last].map((group) => group.padStart(4, "0")).join(""),
    "hex",
  );
}

/** Returns an IP address as an integer of 32 or 128 bits. */
export function addressNumber(address: string): bigint {
  return BigInt(`0x${addressBytes(address).toString("hex")}`);
}

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

/** Returns the current addresses of this machine's interfaces, loopback included. */
export function allMachineAddresses(): string[] {
  return interfaces().map(({ address }) => address);
}

/** Returns the current addresses at which other machines may reach this one: not loopback, not link-local IPv6 addresses. */
export function outsideMachineAddresses(): string[] {
  return interfaces()
    .filter((one) => !one.internal && !(one.family === "IPv6" && one.scopeid !== 0))
    .map(({ address }) => address);
}

function interfaces(): NetworkInterfaceInfo[] {
  return Object.values(networkInterfaces()).flatMap((all) => all ?? []);
}
