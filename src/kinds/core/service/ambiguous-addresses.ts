import { labelKey } from "../../../vocabulary/names.ts";
import type { KindContext } from "../../../schema/context.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { unambiguousPoints } from "../../checks/load-balancer.ts";
import { rejectsAmbiguous, unambiguousAddress, unambiguousRange } from "../../checks/strict-addresses.ts";
import type { ServiceSpec } from "./spec.ts";

interface Addressed {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> | undefined };
  readonly spec?: ServiceSpec | undefined;
  readonly status?:
    | {
        readonly loadBalancer?:
          { readonly ingress?: readonly { readonly ip?: string | undefined }[] | undefined } | undefined;
      }
    | undefined;
}

/** Rejects addresses and ranges of a service that programs read differently, except those of the stored service. */
export function unambiguousServiceAddresses(
  { metadata, spec = {}, status }: Addressed,
  live: Addressed | undefined,
  report: FieldReport,
  context: KindContext,
): void {
  if (!rejectsAmbiguous(context)) return;
  for (const list of ["clusterIPs", "externalIPs"] as const) {
    for (const [index, address] of (spec[list] ?? []).entries())
      unambiguousAddress(address, report.at("spec", list, index), context, live?.spec?.[list]);
  }
  const points = report.at("status", "loadBalancer", "ingress");
  unambiguousPoints(status?.loadBalancer?.ingress, live?.status?.loadBalancer?.ingress, points, context);
  const ranges = spec.loadBalancerSourceRanges ?? [];
  if (ranges.length > 0) {
    const existing = (live?.spec?.loadBalancerSourceRanges ?? []).map((range) => range.trim());
    // The spelling of the reference.
    for (const [index, range] of ranges.entries())
      unambiguousRange(range.trim(), report.at("spec", "LoadBalancerSourceRanges", index), context, existing);
    return;
  }
  const key = labelKey(context.vocabulary.domain, "load-balancer-source-ranges", "service.beta");
  const annotation = metadata.annotations?.[key] ?? "";
  if (annotation === live?.metadata.annotations?.[key]) return;
  for (const range of annotation.split(","))
    unambiguousRange(range.trim(), report.at("metadata", "annotations").key(key), context);
}
