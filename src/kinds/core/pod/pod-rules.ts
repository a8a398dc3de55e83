import { applies, since } from "../../../base/release-rows.ts";
import { dnsSubdomainFaults } from "../../../base/names.ts";
import type { KindContext } from "../../../schema/context.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { checkPodAnnotations, mirrorAnnotation } from "./annotation-rules.ts";
import { checkImageText } from "./container-rules.ts";
import { unambiguousPodAddresses } from "./network-rules.ts";
import type { PodShape } from "./pod-shape.ts";
import type { PodSpec } from "./spec-fields.ts";

const refusesStaticClaims = applies(since("1.27"));

/** Rules of pods that don't apply to pod templates. */
export function checkPod(pod: PodShape, report: FieldReport, context: KindContext): void {
  const { annotations, name = "" } = pod.metadata;
  checkPodAnnotations(annotations, pod.spec, report.at("metadata", "annotations"), context);
  if (pod.spec === undefined) return;
  const isMirror = Object.hasOwn(annotations ?? {}, mirrorAnnotation(context));
  if (isMirror && (pod.spec.resourceClaims ?? []).length > 0 && refusesStaticClaims(context))
    report.at("spec", "resourceClaims").forbidden("static pods do not support resource claims");
  const specReport = report.at("spec");
  for (const list of ["containers", "initContainers"] as const) {
    for (const [index, container] of (pod.spec[list] ?? []).entries()) {
      checkImageText(container, specReport.at(list, index));
    }
  }
  checkTokens(pod.spec, specReport);
  if (name !== "") checkMadeObjects(pod.spec, name, specReport);
}

/** Rejects token volumes in a pod without a service account. */
function checkTokens(spec: PodSpec, report: FieldReport): void {
  if ((spec.serviceAccountName ?? "") !== "") return;
  for (const [index, volume] of (spec.volumes ?? []).entries()) {
    for (const [position, source] of (volume.projected?.sources ?? []).entries()) {
      if (source.serviceAccountToken === undefined) continue;
      report
        .at("volumes", index, "projected", "sources", position, "serviceAccountToken")
        .forbidden("must not be specified when serviceAccountName is not set");
    }
  }
}

/** Checks names of objects that are created for a pod, which are derived from the pod's name. */
function checkMadeObjects(spec: PodSpec, name: string, report: FieldReport): void {
  const claimNames = new Set<string>();
  for (const [index, volume] of (spec.volumes ?? []).entries()) {
    if (volume.ephemeral === undefined) continue;
    const claim = `${name}-${volume.name}`;
    claimNames.add(claim);
    for (const message of dnsSubdomainFaults(claim)) {
      report
        .at("volumes", index, "name")
        .invalid(volume.name, `the claim would be named ${claim}: ${message}`);
    }
  }
  for (const [index, volume] of (spec.volumes ?? []).entries()) {
    const claim = volume.persistentVolumeClaim?.claimName;
    if (claim === undefined || !claimNames.has(claim)) continue;
    report
      .at("volumes", index, "persistentVolumeClaim", "claimName")
      .invalid(claim, "must not reference a claim that is made for an ephemeral volume");
  }
  for (const [index, { name: claim, source }] of (spec.resourceClaims ?? []).entries()) {
    if (source?.resourceClaimTemplateName === undefined) continue;
    const claimNames = `${name}-${claim}`;
    for (const message of dnsSubdomainFaults(claimNames)) {
      report
        .at("resourceClaims", index, "name")
        .invalid(claimNames, `the final name of the claim: ${message}`);
    }
  }
}

/** Rejects members that a new pod can't have. */
export function checkNewPod(pod: PodShape, report: FieldReport, context: KindContext): void {
  const specReport = report.at("spec");
  if ((pod.spec?.ephemeralContainers ?? []).length > 0) {
    specReport.at("ephemeralContainers").forbidden("cannot be set on create");
  }
  unambiguousPodAddresses(pod.spec ?? {}, specReport, context);
  const gated = (pod.spec?.schedulingGates ?? []).length > 0;
  if (gated && (pod.spec?.nodeName ?? "") !== "" && context.enabled("PodSchedulingReadiness")) {
    specReport.at("nodeName").forbidden("cannot be set until all schedulingGates have been cleared");
  }
}
