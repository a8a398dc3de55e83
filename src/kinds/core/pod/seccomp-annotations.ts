import { labelKey } from "../../../vocabulary/names.ts";
import type { KindContext } from "../../../schema/context.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";
import { descendingPath } from "../../checks/paths.ts";
import type { PodSpec } from "./spec-fields.ts";

/** Annotation with the seccomp profile of all containers, which is older than the field. */
export function podProfileAnnotation({ domain }: Vocabulary): string {
  return labelKey(domain, "pod", "seccomp.security.alpha");
}

/** Annotation with the seccomp profile of one container. */
export function containerProfileAnnotation({ domain }: Vocabulary, container: string): string {
  return labelKey(domain, container, "container.seccomp.security.alpha");
}

const localPrefix = "localhost/";
const types: ReadonlyMap<string, "RuntimeDefault" | "Unconfined"> = new Map([
  ["runtime/default", "RuntimeDefault"],
  ["docker/default", "RuntimeDefault"],
  ["unconfined", "Unconfined"],
]);

/** Requires a known profile, or a file in the node's folder of profiles. */
export function checkSeccompAnnotations(
  annotations: Readonly<Record<string, string>>,
  report: FieldReport,
  { vocabulary }: KindContext,
): void {
  const pod = podProfileAnnotation(vocabulary);
  const container = containerProfileAnnotation(vocabulary, "");
  for (const [key, profile] of Object.entries(annotations)) {
    if (report.full) return;
    if (key !== pod && !key.startsWith(container)) continue;
    if (types.has(profile)) continue;
    if (profile.startsWith(localPrefix)) descendingPath(profile.slice(localPrefix.length), report.key(key));
    else report.key(key).invalid(profile, "must be a valid seccomp profile");
  }
}

function profileOf(annotation: string | undefined) {
  if (annotation === undefined) return undefined;
  const type = types.get(annotation);
  if (type !== undefined) return { type };
  const localhostProfile = annotation.startsWith(localPrefix) ? annotation.slice(localPrefix.length) : "";
  return localhostProfile === "" ? undefined : { type: "Localhost" as const, localhostProfile };
}

/**
 * Sets the seccomp profile of a new pod and its containers from annotations if the field is missing, because node
 * agents read only the field.
 */
export function applySeccompAnnotations(
  annotations: Readonly<Record<string, string>> | undefined,
  spec: PodSpec | undefined,
  vocabulary: Vocabulary,
): void {
  if (annotations === undefined || spec === undefined) return;
  const ofPod = profileOf(annotations[podProfileAnnotation(vocabulary)]);
  if (ofPod !== undefined && spec.securityContext?.seccompProfile === undefined) {
    spec.securityContext = { ...spec.securityContext, seccompProfile: ofPod };
  }
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    const own = profileOf(annotations[containerProfileAnnotation(vocabulary, container.name)]);
    if (own === undefined || container.securityContext?.seccompProfile !== undefined) continue;
    container.securityContext = { ...container.securityContext, seccompProfile: own };
  }
}
