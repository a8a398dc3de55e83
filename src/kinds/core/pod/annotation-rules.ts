import { labelKey } from "../../../vocabulary/names.ts";
import type { KindContext } from "../../../schema/context.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { checkSeccompAnnotations } from "./seccomp-annotations.ts";
import type { PodShape } from "./pod-shape.ts";
import type { PodSpec } from "./spec-fields.ts";

type Annotations = Readonly<Record<string, string>> | undefined;

/** Annotation of mirror pods, which node agents create for their static pods. */
export function mirrorAnnotation({ vocabulary }: Pick<KindContext, "vocabulary">): string {
  return labelKey(vocabulary.domain, "config.mirror");
}

/** Begins the annotations with the AppArmor profile of a container; its name follows. */
export function appArmorPrefix({ vocabulary }: KindContext): string {
  return labelKey(vocabulary.domain, "", "container.apparmor.security.beta");
}

/** Checks the annotations that control a pod. */
export function checkPodAnnotations(
  annotations: Annotations,
  spec: PodSpec | undefined,
  report: FieldReport,
  context: KindContext,
): void {
  if (annotations === undefined) return;
  const mirror = mirrorAnnotation(context);
  if (Object.hasOwn(annotations, mirror) && (spec?.nodeName ?? "") === "") {
    report.key(mirror).invalid(annotations[mirror], "must set spec.nodeName if the pod mirrors a static one");
  }
  checkSeccompAnnotations(annotations, report, context);
  const prefix = appArmorPrefix(context);
  const profiles = Object.entries(annotations).filter(([key]) => key.startsWith(prefix));
  if (profiles.length === 0) return;
  const names = new Set(
    [...(spec?.containers ?? []), ...(spec?.initContainers ?? []), ...(spec?.ephemeralContainers ?? [])].map(
      ({ name }) => name,
    ),
  );
  for (const [key, profile] of profiles) {
    if (report.full) return;
    const container = key.slice(prefix.length);
    if (!names.has(container)) report.key(key).invalid(container, "container not found");
    if (!isAppArmorProfile(profile))
      report.key(key).invalid(profile, "isn't the name of an AppArmor profile");
  }
}

function isAppArmorProfile(profile: string): boolean {
  return (
    profile === "" ||
    profile === "runtime/default" ||
    profile === "unconfined" ||
    profile.startsWith("localhost/")
  );
}

/** Rejects changes of annotations that are immutable. */
export function checkPodAnnotationsKept(
  pod: Pick<PodShape, "metadata">,
  livePod: Pick<PodShape, "metadata">,
  report: FieldReport,
  context: KindContext,
): void {
  const now = pod.metadata.annotations;
  const live = livePod.metadata.annotations;
  const annotations = report.at("metadata", "annotations");
  const mirror = mirrorAnnotation(context);
  const prefix = appArmorPrefix(context);
  const keys = new Set([...Object.keys(now ?? {}), ...Object.keys(live ?? {})]);
  for (const key of keys) {
    if (annotations.full) return;
    if (key !== mirror && !key.startsWith(prefix)) continue;
    if (now?.[key] !== live?.[key]) annotations.key(key).forbidden("may not be added, changed or removed");
  }
}
