import { isAddress } from "../../base/network/ip-address.ts";
import { parseDurationFormat } from "./duration-format.ts";

/** Whether a string has a format. */
type TextFormat = (text: string) => boolean;

const email = /^[^\s@<>]{1,64}@[^\s@<>]{1,255}$/;
const hostname =
  /^[A-Za-z0-9](?:[-A-Za-z0-9]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[-A-Za-z0-9]{0,61}[A-Za-z0-9])?)*\.?$/;
const mac =
  /^[0-9A-Fa-f]{2}(?:([:-])[0-9A-Fa-f]{2})(?:\1[0-9A-Fa-f]{2}){4}$|^[0-9A-Fa-f]{4}(?:\.[0-9A-Fa-f]{4}){2}$/;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const date = /^\d{4}-\d\d-\d\d$/;
const dateTime = /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:?\d\d)$/;
const isbn10 = /^\d{9}[\dX]$/;
const creditCard =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/;
const rgb =
  /^rgb\(\s*(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*\)$/;

/** A UUID with or without dashes; the capture group is the version. */
const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?([0-9a-f])[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

function isUuid(version?: string): TextFormat {
  return (text) => {
    const match = uuid.exec(text);
    return match !== null && (version === undefined || match[1] === version);
  };
}

/** The string formats that Kubernetes validates; other formats are ignored. */
const formats: ReadonlyMap<string, TextFormat> = new Map<string, TextFormat>([
  ["bsonobjectid", (text) => /^[0-9a-fA-F]{24}$/.test(text)],
  [
    "uri",
    (text) => URL.canParse(text) || (text.startsWith("/") && URL.canParse(text, "https://host.invalid")),
  ],
  ["email", (text) => email.test(text)],
  ["hostname", (text) => text.length <= 254 && hostname.test(text)],
  ["ipv4", (text) => isAddress(text) && !text.includes(":")],
  ["ipv6", (text) => isAddress(text) && text.includes(":")],
  ["cidr", isCidr],
  ["mac", (text) => mac.test(text)],
  ["uuid", isUuid()],
  ["uuid3", isUuid("3")],
  ["uuid4", isUuid("4")],
  ["uuid5", isUuid("5")],
  ["byte", (text) => base64.test(text)],
  ["date", (text) => date.test(text) && isDay(text)],
  ["datetime", (text) => isTime(text)],
  ["duration", (text) => parseDurationFormat(text) !== undefined],
  ["isbn", (text) => isIsbn(text, [10, 13])],
  ["isbn10", (text) => isIsbn(text, [10])],
  ["isbn13", (text) => isIsbn(text, [13])],
  [
    "creditcard",
    (text) => creditCard.test(text.replaceAll(/\D+/g, "")) && hasLuhnSum(text.replaceAll(/\D+/g, "")),
  ],
  ["ssn", (text) => /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text)],
  ["rgbcolor", (text) => rgb.test(text)],
  ["hexcolor", (text) => /^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text)],
]);

/** Whether a string has a format; dashes in the format name are ignored. True for an unknown format. */
export function hasFormat(format: string, text: string): boolean {
  return (formats.get(format) ?? formats.get(format.replaceAll("-", "")))?.(text) ?? true;
}

/** Validates an ISBN with its check digit; dashes and spaces are ignored. */
function isIsbn(text: string, lengths: readonly number[]): boolean {
  const digits = text.replaceAll(/[\s-]+/g, "");
  if (!lengths.includes(digits.length)) return false;
  if (digits.length === 10) {
    const weighted = [...digits].map((digit, index) => (index + 1) * (digit === "X" ? 10 : Number(digit)));
    return isbn10.test(digits) && sumOf(weighted) % 11 === 0;
  }
  const weighted = [...digits].map((digit, index) => Number(digit) * (index % 2 === 0 ? 1 : 3));
  return /^\d{13}$/.test(digits) && sumOf(weighted) % 10 === 0;
}

function hasLuhnSum(digits: string): boolean {
  const doubled = [...digits].toReversed().map((digit, index) => Number(digit) * (index % 2 === 0 ? 1 : 2));
  return sumOf(doubled.map((one) => (one > 9 ? one - 9 : one))) % 10 === 0;
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0);
}

function isCidr(text: string): boolean {
  const slash = text.indexOf("/");
  const [address, bits] = [text.slice(0, slash), text.slice(slash + 1)];
  if (slash === -1 || !isAddress(address) || !/^\d{1,3}$/.test(bits)) return false;
  return Number(bits) <= (address.includes(":") ? 128 : 32);
}

function isDay(text: string): boolean {
  const at = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}

function isTime(text: string): boolean {
  const match = dateTime.exec(text);
  return match !== null && isDay(match[1]!) && !Number.isNaN(Date.parse(`1970-01-01T${match[2]}Z`));
}
