import { roundUpToMilli } from "../../quantities.ts";
import { struct } from "../v1.ts";
import { fillHostPorts } from "./port-rules.ts";
import { laterPodSpecFields, podSpecFields } from "./spec-fields.ts";
import { checkPodSpec } from "./spec-rules.ts";
import { annotationMap, labelMap } from "../../checks/names.ts";
import { checkPodAnnotations } from "./annotation-rules.ts";
import { unambiguousPodAddresses } from "./network-rules.ts";
import { ObjectMeta } from "../../../schema/object-meta.ts";
import { type Static, field } from "../../../schema/types.ts";

export const PodSpec = struct("PodSpec", "Desired state of a Pod.", podSpecFields, {
  fill(copy) {
    roundUpToMilli(copy.overhead);
    // Both fields have the same value; the newer one has precedence.
    const account = [copy.serviceAccountName, copy.serviceAccount].find((name) => (name ?? "") !== "");
    if (account !== undefined) copy.serviceAccountName = copy.serviceAccount = account;
    if (copy.hostNetwork !== true) return;
    for (const container of [...(copy.containers ?? []), ...(copy.initContainers ?? [])]) {
      fillHostPorts(container);
    }
  },
  check: checkPodSpec,
  later: () => laterPodSpecFields,
});

export const PodTemplateSpec = struct(
  "PodTemplateSpec",
  "Template from which pods are created.",
  {
    metadata: field(1, ObjectMeta, "Metadata of the pods; the server generates their names.").emitEmpty(),
    spec: field(2, PodSpec, "Desired state of the pods.").emitEmpty(),
  },
  {
    check(template, report, context) {
      // As in the reference, these paths lack `metadata`.
      labelMap(template.metadata?.labels ?? {}, report.at("labels"));
      annotationMap(template.metadata?.annotations ?? {}, report.at("annotations"));
      checkPodAnnotations(template.metadata?.annotations, template.spec, report.at("annotations"), context);
      unambiguousPodAddresses(template.spec ?? {}, report.at("spec"), context);
      if ((template.spec?.ephemeralContainers ?? []).length > 0) {
        report
          .at("spec", "ephemeralContainers")
          .forbidden("ephemeral containers not allowed in pod template");
      }
    },
  },
);
export type PodTemplateSpec = Static<typeof PodTemplateSpec>;
