import { quotedText } from "../syntax/fault-text.ts";
import { semverType } from "../types/opaque-types.ts";
import { Fault, OpaqueValue } from "./values.ts";

/** A semantic version. */
export class Semver extends OpaqueValue {
  override readonly type = semverType;

  constructor(
    /** Major, minor and patch version. */
    readonly numbers: readonly [bigint, bigint, bigint],
    /** Parts of the pre-release version; numbers are `bigint`. */
    readonly prerelease: readonly (string | bigint)[],
  ) {
    super();
  }

  override get stepsToCompare(): number {
    return this.prerelease.length + this.numbers.length;
  }

  override equals(other: OpaqueValue): boolean {
    return other instanceof Semver && compareVersions(this, other) === 0;
  }
}

/** Compares two versions by precedence: -1, 0 or 1. */
export function compareVersions(a: Semver, b: Semver): number {
  for (const [index, number] of a.numbers.entries()) {
    const order = orderOf(number, b.numbers[index]!);
    if (order !== 0) return order;
  }
  if (a.prerelease.length === 0 || b.prerelease.length === 0) {
    return orderOf(b.prerelease.length, a.prerelease.length);
  }
  for (const [index, part] of a.prerelease.entries()) {
    const other = b.prerelease[index];
    if (other === undefined) return 1;
    const order = partOrder(part, other);
    if (order !== 0) return order;
  }
  return a.prerelease.length < b.prerelease.length ? -1 : 0;
}

function partOrder(a: string | bigint, b: string | bigint): number {
  if (typeof a === typeof b) return orderOf(a, b);
  return typeof a === "bigint" ? -1 : 1;
}

function orderOf<T extends string | bigint | number>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const maxUint = 2n ** 64n - 1n;
const maxLength = 1024;
const onlyDigits = /^[0-9]*$/;
const onlyIdentifier = /^[A-Za-z0-9-]*$/;

class VersionError extends Error {
  override name = "VersionError";
}

/** @param normalize whether a leading `v`, missing parts and leading zeros are allowed. */
export function parseSemver(text: string, normalize: boolean): Semver | Fault {
  try {
    if (text.length > maxLength) throw new VersionError("the version is too long");
    return version(normalize ? normalized(text) : text);
  } catch (error) {
    if (error instanceof VersionError) return new Fault(error.message);
    throw error;
  }
}

/** Splits at the first dots; the last part is the rest. */
function splitVersion(text: string): string[] {
  const [major = "", minor, ...rest] = text.split(".");
  if (minor === undefined) return [major];
  return rest.length === 0 ? [major, minor] : [major, minor, rest.join(".")];
}

function normalized(text: string): string {
  const parts = splitVersion(text.replace(/^v/, "")).map((part) => {
    if (part.length < 2) return part;
    const rest = part.replace(/^0+/, "");
    return /^[0-9]/.test(rest) ? rest : `0${rest}`;
  });
  if (parts.length < 3 && /[+-]/.test(parts.at(-1)!)) {
    throw new VersionError("short version cannot contain PreRelease/Build meta data");
  }
  return [...parts, "0", "0"].slice(0, Math.max(3, parts.length)).join(".");
}

function version(text: string): Semver {
  if (text === "") throw new VersionError("Version string empty");
  const parts = splitVersion(text);
  if (parts.length !== 3) throw new VersionError("No Major.Minor.Patch elements found");
  const [major, minor, rest] = parts as [string, string, string];
  const numbers = [numberOf(major, "major", "Major"), numberOf(minor, "minor", "Minor")] as const;
  const plus = rest.indexOf("+");
  const build = plus < 0 ? undefined : rest.slice(plus + 1);
  const beforeBuild = plus < 0 ? rest : rest.slice(0, plus);
  const minus = beforeBuild.indexOf("-");
  const prerelease = minus < 0 ? undefined : beforeBuild.slice(minus + 1);
  const patch = numberOf(minus < 0 ? beforeBuild : beforeBuild.slice(0, minus), "patch", "Patch");
  const prereleaseParts = prerelease?.split(".").map(prereleasePart) ?? [];
  for (const part of build?.split(".") ?? []) assertBuildPart(part);
  return new Semver([...numbers, patch], prereleaseParts);
}

function numberOf(text: string, name: string, start: string): bigint {
  if (!onlyDigits.test(text))
    throw new VersionError(`Invalid character(s) found in ${name} number ${quotedText(text)}`);
  if (text.length > 1 && text.startsWith("0")) {
    throw new VersionError(`${start} number must not contain leading zeroes ${quotedText(text)}`);
  }
  return unsigned(text);
}

function unsigned(text: string): bigint {
  if (text === "") throw new VersionError(`strconv.ParseUint: parsing "": invalid syntax`);
  const value = BigInt(text);
  if (value > maxUint)
    throw new VersionError(`strconv.ParseUint: parsing ${quotedText(text)}: value out of range`);
  return value;
}

function prereleasePart(text: string): string | bigint {
  if (text === "") throw new VersionError("Prerelease is empty");
  if (onlyDigits.test(text)) {
    if (text.length > 1 && text.startsWith("0")) {
      throw new VersionError(
        `Numeric PreRelease version must not contain leading zeroes ${quotedText(text)}`,
      );
    }
    return unsigned(text);
  }
  if (onlyIdentifier.test(text)) return text;
  throw new VersionError(`Invalid character(s) found in prerelease ${quotedText(text)}`);
}

function assertBuildPart(text: string): void {
  if (text === "") throw new VersionError("Build meta data is empty");
  if (!onlyIdentifier.test(text)) {
    throw new VersionError(`Invalid character(s) found in build meta data ${quotedText(text)}`);
  }
}
