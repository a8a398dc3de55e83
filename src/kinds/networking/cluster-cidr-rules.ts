import type { FieldReport } from "../../schema/faults.ts";
import { cidrFamily, isCidr, prefixLength } from "../checks/addresses.ts";

const minHostBits = 4;

interface Ranges {
  readonly perNodeHostBits: number;
  readonly ipv4?: string | undefined;
  readonly ipv6?: string | undefined;
}

/** Requires a range of at least one family that is large enough for the range of a node. */
export function checkRanges({ perNodeHostBits, ipv4 = "", ipv6 = "" }: Ranges, report: FieldReport): void {
  if (ipv4 === "" && ipv6 === "")
    return report.required("one or both of `ipv4` and `ipv6` must be specified");
  if (ipv4 !== "") checkRange(ipv4, perNodeHostBits, "IPv4", report);
  if (ipv6 !== "") checkRange(ipv6, perNodeHostBits, "IPv6", report);
}

function checkRange(range: string, hostBits: number, family: "IPv4" | "IPv6", report: FieldReport): void {
  // As in the reference, the path is the name of the family.
  const here = report.at(family);
  if (!isCidr(range)) return here.invalid(range, `must be a valid CIDR: ${range}`);
  if (cidrFamily(range) !== family) return here.invalid(range, `must be a valid ${family} CIDR`);
  const maxHostBits = (family === "IPv4" ? 32 : 128) - prefixLength(range);
  const bitsReport = report.at("perNodeHostBits");
  if (hostBits < minHostBits) bitsReport.invalid(hostBits, `must be greater than or equal to ${minHostBits}`);
  if (hostBits > maxHostBits) bitsReport.invalid(hostBits, `must be less than or equal to ${maxHostBits}`);
}

interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[] | undefined;
}

interface Selector {
  readonly nodeSelectorTerms:
    | readonly {
        readonly matchExpressions?: readonly Requirement[] | undefined;
        readonly matchFields?: readonly Requirement[] | undefined;
      }[]
    | null;
}

/** Formats the terms of a node selector as the reference does. */
export function nodeSelectorText({ nodeSelectorTerms }: Selector): string {
  return (nodeSelectorTerms ?? [])
    .flatMap(({ matchExpressions, matchFields }) => [
      ...(matchExpressions === undefined ? [] : [`MatchExpressions: ${requirementsText(matchExpressions)}`]),
      ...(matchFields === undefined ? [] : [`MatchFields: ${requirementsText(matchFields)}`]),
    ])
    .join(",");
}

function requirementsText(requirements: readonly Requirement[]): string {
  const texts = requirements.map(
    ({ key, operator, values = [] }) => `{${key} ${operator} [${values.join(" ")}]}`,
  );
  return `[${texts.join(" ")}]`;
}
