import type { KindContext } from "../../../schema/context.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { cidrFamily, isCidr } from "../../checks/addresses.ts";
import { checkAmount } from "../resource-names.ts";

/** Checks the amounts of resources that a node reports. */
export function checkAmounts(
  amounts: Readonly<Record<string, string>> | undefined,
  place: FieldReport,
  context: KindContext,
): void {
  for (const [name, amount] of Object.entries(amounts ?? {})) {
    if (place.full) return;
    // As in the reference, faults have the resource as a member.
    checkAmount(name, amount, place.at(name), context);
  }
}

/** Allows at most one range per IP family for pods. */
export function checkPodRanges(ranges: readonly string[], place: FieldReport): void {
  let valid = true;
  const seen = new Set<string>();
  for (const [index, range] of ranges.entries()) {
    if (place.full) return;
    if (!isCidr(range)) {
      place.at(index).invalid(ranges, "must be valid CIDR");
      valid = false;
    }
    if (seen.has(range)) place.at(index).duplicate(range);
    seen.add(range);
  }
  if (ranges.length < 2) return;
  if (ranges.length > 2 || (valid && new Set(ranges.map(cidrFamily)).size < 2)) {
    place.invalid(ranges, "may specify no more than one CIDR for each IP family");
  }
}

/** Requires unique addresses. */
export function checkAddresses(
  addresses: readonly { readonly type: string; readonly address: string }[],
  place: FieldReport,
): void {
  const seen = new Set<string>();
  for (const [index, address] of addresses.entries()) {
    if (place.full) return;
    const key = `${address.type} ${address.address}`;
    if (seen.has(key)) place.at(index).duplicate(address);
    seen.add(key);
  }
}

interface SetOnce {
  readonly podCIDRs?: readonly string[] | undefined;
  readonly providerID?: string | undefined;
  readonly externalID?: string | undefined;
}

/** Rejects changes of fields that can be set only once. */
export function checkSetOnce(spec: SetOnce, live: SetOnce, place: FieldReport): void {
  const before = live.podCIDRs ?? [];
  const now = spec.podCIDRs ?? [];
  if (before.length > 0 && (now.length !== before.length || before.some((range, at) => range !== now[at]))) {
    place.at("podCIDRs").forbidden('node updates may not change podCIDR except from "" to valid');
  }
  const provider = live.providerID ?? "";
  if (provider !== "" && provider !== spec.providerID) {
    place.at("providerID").forbidden('node updates may not change providerID except from "" to valid');
  }
  if ((live.externalID ?? "") !== (spec.externalID ?? ""))
    place.at("externalID").forbidden("may not be updated");
}
