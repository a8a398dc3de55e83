import { since } from "../../../base/release-rows.ts";
import { struct } from "../v1.ts";
import { dnsLabel, dnsSubdomain } from "../../checks/names.ts";
import { roundUpToMilli } from "../../quantities.ts";
import { checkClaimSource } from "./resource-rules.ts";
import { removedIn } from "../../../schema/added-fields.ts";
import { field, list, map, quantity, string } from "../../../schema/types.ts";

const ResourceClaim = struct(
  "ResourceClaim",
  "Reference to a resource claim of the pod.",
  {
    name: field(1, string, "Name of the claim in the pod's `resourceClaims`.").declaredRequired(),
  },
  {
    later: () => ({
      request: since("1.31", field(2, string, "Name of a request in the claim; empty for all requests.")),
    }),
  },
);

/** Rounds the amounts to thousandths. Changes the copy. */
export function roundRequirements(copy: {
  readonly limits?: Record<string, string> | undefined;
  readonly requests?: Record<string, string> | undefined;
}): void {
  roundUpToMilli(copy.limits);
  roundUpToMilli(copy.requests);
}

export const ResourceRequirements = struct(
  "ResourceRequirements",
  "Resource requests and limits.",
  {
    limits: field(1, map(quantity), "Maximum amount of each resource."),
    requests: field(2, map(quantity), "Minimum amount of each resource. Default: `limits`."),
    claims: field(3, list(ResourceClaim), "Resource claims of the pod that are used.")
      .mapBy("name")
      .gated("DynamicResourceAllocation"),
  },
  {
    fill: roundRequirements,
  },
);

const ClaimSource = struct(
  "ClaimSource",
  "Source of a resource claim; exactly one field is set.",
  {
    resourceClaimName: field(1, string, "Name of a ResourceClaim in the pod's namespace.")
      .nullable()
      .check(dnsSubdomain),
    resourceClaimTemplateName: field(
      2,
      string,
      "Name of a ResourceClaimTemplate from which a claim is created for the pod.",
    )
      .nullable()
      .check(dnsSubdomain),
  },
  { check: checkClaimSource },
);

export const PodResourceClaim = struct(
  "PodResourceClaim",
  "A resource claim that containers of the pod can use.",
  {
    name: field(1, string, "Name of the claim in the pod, for references from containers.")
      .required()
      .check(dnsLabel),
    source: field(2, ClaimSource, "Source of the claim.").emitEmpty(),
  },
  {
    later: () => ({
      source: removedIn("1.31"),
      resourceClaimName: since(
        "1.31",
        field(3, string, "Name of a ResourceClaim in the pod's namespace.").nullable().check(dnsSubdomain),
      ),
      resourceClaimTemplateName: since(
        "1.31",
        field(4, string, "Name of a ResourceClaimTemplate from which a claim is created for the pod.")
          .nullable()
          .check(dnsSubdomain),
      ),
    }),
  },
);
