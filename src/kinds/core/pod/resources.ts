import { struct } from "../v1.ts";
import { dnsLabel, dnsSubdomain } from "../../checks/names.ts";
import { roundUpToMilli } from "../../quantities.ts";
import { checkClaimSource } from "./resource-rules.ts";
import { removedIn, since } from "../../../schema/later-fields.ts";
import { field, list, map, quantity, string } from "../../../schema/types.ts";

const ResourceClaim = struct(
  "ResourceClaim",
  "A claim on resources that a container uses.",
  {
    name: field(1, string, "Name of one of the pod's resource claims.").declaredRequired(),
  },
  {
    later: () => ({
      request: since("1.31", field(2, string, "The request of the claim; all requests when empty.")),
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
  "Resources that are needed and allowed.",
  {
    limits: field(1, map(quantity), "The most that may be used of each resource."),
    requests: field(
      2,
      map(quantity),
      "The least that is needed of each resource; the limits where nothing is said.",
    ),
    claims: field(3, list(ResourceClaim), "The pod's resource claims that are used.")
      .mapBy("name")
      .gated("DynamicResourceAllocation"),
  },
  {
    fill: roundRequirements,
  },
);

const ClaimSource = struct(
  "ClaimSource",
  "Where a resource claim comes from; exactly one is given.",
  {
    resourceClaimName: field(1, string, "Name of a claim in the pod's namespace.")
      .nullable()
      .check(dnsSubdomain),
    resourceClaimTemplateName: field(2, string, "Name of a template from which a claim is made for this pod.")
      .nullable()
      .check(dnsSubdomain),
  },
  { check: checkClaimSource },
);

export const PodResourceClaim = struct(
  "PodResourceClaim",
  "A resource claim that containers can refer to.",
  {
    name: field(1, string, "Name of the claim within the pod.").required().check(dnsLabel),
    source: field(2, ClaimSource, "Where the claim comes from.").emitEmpty(),
  },
  {
    later: () => ({
      source: removedIn("1.31"),
      resourceClaimName: since(
        "1.31",
        field(3, string, "Name of a claim in the pod's namespace.").nullable().check(dnsSubdomain),
      ),
      resourceClaimTemplateName: since(
        "1.31",
        field(4, string, "Name of a template from which a claim is made for this pod.")
          .nullable()
          .check(dnsSubdomain),
      ),
    }),
  },
);
