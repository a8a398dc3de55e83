import { PodSpec } from "./spec.ts";
import { struct } from "../v1.ts";
import { annotationMap, labelMap } from "../../checks/names.ts";
import { checkPodAnnotations } from "./annotation-rules.ts";
import { unambiguousPodAddresses } from "./network-rules.ts";
import { ObjectMeta } from "../../../schema/object-meta.ts";
import { type Static, field } from "../../../schema/types.ts";

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
