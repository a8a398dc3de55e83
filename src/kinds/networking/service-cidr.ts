import * as v1 from "./v1.ts";
import * as v1alpha1 from "./v1alpha1.ts";
import * as v1beta1 from "./v1beta1.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { Conversion, Declarations, ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, list, string } from "../../schema/types.ts";
import { checkCidr, cidrFamily, isCidr } from "../checks/addresses.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import type { networking } from "../groups.ts";
import { Condition } from "../meta/condition.ts";
import { sameFields } from "../same-fields.ts";

const maxRanges = 2;
const immutable = "field is immutable";

/** Declares ServiceCIDR in one version of the group. */
function declareServiceCIDR<const V extends string>(
  { kind, struct }: Declarations<typeof networking, V>,
  version: { readonly servedByDefault: boolean; readonly conversion?: Conversion },
) {
  const spec = struct("ServiceCIDRSpec", "Address ranges for cluster IPs of Services.", {
    cidrs: field(
      1,
      list(string),
      "One or two ranges in CIDR notation, one per address family; a second one can be added later.",
    ).atomic(),
  });
  const status = struct("ServiceCIDRStatus", "Observed state of a ServiceCIDR.", {
    conditions: field(1, list(Condition), "Conditions, such as Ready.")
      .mapBy("type")
      .patchMerge("type")
      .unchecked(),
  });
  return kind({
    name: "ServiceCIDR",
    resource: "servicecidrs",
    singular: "servicecidr",
    scope: "Cluster",
    ...version,
    doc: "Address ranges for cluster IPs of Services.",
    fields: {
      metadata: field(1, ObjectMeta, "Metadata of the ServiceCIDR.").emitEmpty(),
      spec: field(2, spec, "Address ranges for cluster IPs of Services.").emitEmpty(),
      status: field(3, status, "Observed state of the ServiceCIDR.").emitEmpty(),
    },
    validateCreate({ spec: input }, report) {
      checkRanges(input?.cidrs ?? [], report.at("spec", "cidrs"));
    },
    validateUpdate({ spec: now }, live, report, { subresource }) {
      if (subresource === "")
        checkChange(now?.cidrs ?? [], live.spec?.cidrs ?? [], report.at("spec", "cidrs"));
    },
    status: { initial: () => ({}), keepsMetadata: "all" },
    columns: [
      nameColumn,
      {
        name: "CIDRs",
        type: "string",
        doc: "The ranges in CIDR notation.",
        cell: ({ spec: input }) => (input?.cidrs ?? []).join(","),
      },
      ageColumn,
    ],
  });
}

function checkRanges(ranges: readonly string[], report: FieldReport): void {
  if (ranges.length === 0) return report.required("at least one CIDR required");
  if (ranges.length > maxRanges) return report.invalid({ cidrs: ranges }, "may only hold up to 2 values");
  for (const [index, range] of ranges.entries()) checkCidr(range, report.at(index));
  const [first = "", second] = ranges;
  if (second === undefined || !isCidr(first) || !isCidr(second)) return;
  if (cidrFamily(first) !== cidrFamily(second)) return;
  report.invalid(
    ranges,
    "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64",
  );
}

/** Allows to add a second range. */
function checkChange(now: readonly string[], before: readonly string[], report: FieldReport): void {
  const adds = before.length === 1 && now.length === maxRanges;
  if (now.length !== before.length && !adds) return report.invalid(now, immutable);
  for (const [index, range] of before.entries()) {
    if (range !== now[index]) report.at(index).invalid(now[index], immutable);
  }
  if (adds) checkRanges(now, report);
}

/** Release 1.33 and later; the stored version. */
export const ServiceCIDRV1 = declareServiceCIDR(v1, { servedByDefault: true });
export type ServiceCIDRV1 = ObjectFor<typeof ServiceCIDRV1>;

const conversion = sameFields(() => ServiceCIDRV1);

/** Release 1.31 and later. */
export const ServiceCIDRV1beta1 = declareServiceCIDR(v1beta1, { servedByDefault: false, conversion });
export type ServiceCIDRV1beta1 = ObjectFor<typeof ServiceCIDRV1beta1>;

/** Release 1.29 and later. */
export const ServiceCIDRV1alpha1 = declareServiceCIDR(v1alpha1, { servedByDefault: false, conversion });
export type ServiceCIDRV1alpha1 = ObjectFor<typeof ServiceCIDRV1alpha1>;
