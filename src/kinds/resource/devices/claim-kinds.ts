import type { Conversion } from "../../../schema/kind.ts";
import { ObjectMeta } from "../../../schema/object-meta.ts";
import { field } from "../../../schema/types.ts";
import { annotationMap, labelMap } from "../../checks/names.ts";
import { unchanged } from "../../checks/values.ts";
import { ageColumn, nameColumn } from "../../columns.ts";
import { stateText } from "../resource-claim-rules.ts";
import { checkClaimSpec, expressionsOf, type ClaimSpec } from "./claim-rules.ts";
import { checkClaimStatus, currentDeviceStates, type Claim } from "./claim-status-rules.ts";
import { declareClaimStatus } from "./claim-status-structs.ts";
import { declareClaimSpec } from "./claim-structs.ts";
import { declareCommonStructs } from "./common-structs.ts";
import { checkExpressions } from "./selector-rules.ts";
import type { DeviceVersion } from "./versions.ts";

/** What differs between the versions of a kind. */
export interface VersionMembers {
  readonly servedByDefault: boolean;
  readonly conversion?: Conversion;
}

/** Declares ResourceClaim in one version. */
export function declareResourceClaim(version: DeviceVersion, members: VersionMembers) {
  const common = declareCommonStructs(version.declarations);
  return version.declarations.kind({
    name: "ResourceClaim",
    resource: "resourceclaims",
    collection: "resourceclaims.v1",
    singular: "resourceclaim",
    scope: "Namespaced",
    returnsDeletedObject: true,
    ...members,
    doc: "A claim for devices that pods can use.",
    fields: {
      metadata: field(1, ObjectMeta, "Metadata of the claim.").emitEmpty(),
      spec: field(2, declareClaimSpec(version, common), "Requested devices; immutable.").emitEmpty(),
      status: field(
        3,
        declareClaimStatus(version, common),
        "Allocation and consumers of the claim.",
      ).emitEmpty(),
    },
    validateCreate({ spec }, report, context) {
      checkClaimSpec((spec ?? {}) as ClaimSpec, report.at("spec"), context);
    },
    validateUpdate(claim, live, report, { subresource }) {
      unchanged(claim.spec, live.spec, report.at("spec"));
      if (subresource === "status") {
        checkClaimStatus(claim as unknown as Claim, live as unknown as Claim, report.at("status"));
      }
    },
    validateLast({ spec }, live, report, context) {
      if (live !== undefined) return;
      const { devices = {} } = (spec ?? {}) as ClaimSpec;
      const at = report.at("spec", "devices");
      return checkExpressions(expressionsOf(devices, at), context, at);
    },
    status: {
      initial: () => ({}),
      keepsMetadata: "all",
      write: (written, live) =>
        currentDeviceStates(
          (written.status ?? {}) as Claim["status"] & object,
          (live.status ?? {}) as Claim["status"] & object,
        ),
    },
    columns: [
      nameColumn,
      {
        name: "State",
        type: "string",
        doc: "Whether the claim is allocated and reserved.",
        cell: (claim) => stateText(claim as unknown as Parameters<typeof stateText>[0]),
      },
      ageColumn,
    ],
  });
}

/** Declares ResourceClaimTemplate in one version. */
export function declareResourceClaimTemplate(version: DeviceVersion, members: VersionMembers) {
  const { kind, struct } = version.declarations;
  const claimSpec = declareClaimSpec(version, declareCommonStructs(version.declarations));
  const template = struct("ResourceClaimTemplateSpec", "The claims created from a template.", {
    metadata: field(1, ObjectMeta, "Labels and annotations of the claims.").emitEmpty(),
    spec: field(2, claimSpec, "Requested devices.").emitEmpty(),
  });
  return kind({
    name: "ResourceClaimTemplate",
    resource: "resourceclaimtemplates",
    collection: "resourceclaimtemplates.v1",
    singular: "resourceclaimtemplate",
    scope: "Namespaced",
    returnsDeletedObject: true,
    ...members,
    doc: "A template from which claims are created for pods.",
    fields: {
      metadata: field(1, ObjectMeta, "Metadata of the template.").emitEmpty(),
      spec: field(2, template, "The claims to create; immutable.").emitEmpty(),
    },
    validate({ spec }, report, context) {
      const { labels, annotations } = spec?.metadata ?? {};
      labelMap(labels ?? {}, report.at("spec", "metadata", "labels"));
      annotationMap(annotations ?? {}, report.at("spec", "metadata", "annotations"));
      checkClaimSpec((spec?.spec ?? {}) as ClaimSpec, report.at("spec", "spec"), context);
    },
    validateUpdate({ spec }, live, report) {
      unchanged(spec, live.spec, report.at("spec"));
    },
    validateLast({ spec }, live, report, context) {
      if (live !== undefined) return;
      const { devices = {} } = (spec?.spec ?? {}) as ClaimSpec;
      const at = report.at("spec", "spec", "devices");
      return checkExpressions(expressionsOf(devices, at), context, at);
    },
    columns: [nameColumn, ageColumn],
  });
}
