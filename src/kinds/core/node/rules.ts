import { applies, byRelease, since, until } from "../../../base/release-rows.ts";
import type { KindContext } from "../../../schema/context.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { cidrFamily, isCidr } from "../../checks/addresses.ts";
import { checkAmount } from "../resource-names.ts";
import { unambiguousRange } from "../../checks/strict-addresses.ts";

/** Checks the amounts of resources that a node reports. */
export function checkAmounts(
  amounts: Readonly<Record<string, string>> | undefined,
  report: FieldReport,
  context: KindContext,
): void {
  for (const [name, amount] of Object.entries(amounts ?? {})) {
    if (report.full) return;
    // As in the reference, faults have the resource as a member.
    checkAmount(name, amount, report.at(name), context);
  }
}

const refusesDuplicates = applies(until("1.33"));

/** Allows at most one range per IP family for pods. */
export function checkPodRanges(
  ranges: readonly string[],
  report: FieldReport,
  context: Pick<KindContext, "release">,
): void {
  let valid = true;
  const seen = new Set<string>();
  for (const [index, range] of ranges.entries()) {
    if (report.full) return;
    if (!isCidr(range)) {
      report.at(index).invalid(ranges, "must be valid CIDR");
      valid = false;
    }
    if (seen.has(range) && refusesDuplicates(context)) report.at(index).duplicate(range);
    seen.add(range);
  }
  if (ranges.length < 2) return;
  if (ranges.length > 2 || (valid && new Set(ranges.map(cidrFamily)).size < 2)) {
    report.invalid(ranges, "may specify no more than one CIDR for each IP family");
  }
}

/** Requires unique addresses. */
export function checkAddresses(
  addresses: readonly { readonly type: string; readonly address: string }[],
  report: FieldReport,
): void {
  const seen = new Set<string>();
  for (const [index, address] of addresses.entries()) {
    if (report.full) return;
    const key = `${address.type} ${address.address}`;
    if (seen.has(key)) report.at(index).duplicate(address);
    seen.add(key);
  }
}

interface SetOnce {
  readonly podCIDRs?: readonly string[] | undefined;
  readonly providerID?: string | undefined;
  readonly externalID?: string | undefined;
}

/** Reports a changed provider ID. */
const refuseProvider = byRelease(
  (_id: string, report: FieldReport) =>
    report.forbidden('node updates may not change providerID except from "" to valid'),
  since("1.37", (id, report) =>
    report.invalid(null, `field cannot be ${id === "" ? "cleared" : "modified"} once set`),
  ),
);

/** Rejects changes of fields that can be set only once. */
export function checkSetOnce(
  spec: SetOnce,
  live: SetOnce,
  report: FieldReport,
  context: Pick<KindContext, "release">,
): void {
  const before = live.podCIDRs ?? [];
  const now = spec.podCIDRs ?? [];
  if (before.length > 0 && (now.length !== before.length || before.some((range, at) => range !== now[at]))) {
    report.at("podCIDRs").forbidden('node updates may not change podCIDR except from "" to valid');
  }
  const provider = live.providerID ?? "";
  if (provider !== "" && provider !== spec.providerID) {
    refuseProvider(context)(spec.providerID ?? "", report.at("providerID"));
  }
  if ((live.externalID ?? "") !== (spec.externalID ?? ""))
    report.at("externalID").forbidden("may not be updated");
}

interface Ranged {
  readonly spec?: { readonly podCIDRs?: readonly string[] | undefined } | undefined;
}

/** Rejects ranges for pods that programs read differently, except those of the stored node. */
export function unambiguousPodRanges(
  { spec }: Ranged,
  live: Ranged | undefined,
  report: FieldReport,
  context: KindContext,
): void {
  for (const [index, range] of (spec?.podCIDRs ?? []).entries())
    unambiguousRange(range, report.at("spec", "podCIDRs", index), context, live?.spec?.podCIDRs);
}
