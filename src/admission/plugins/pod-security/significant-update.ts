import { type Domain, labelKey } from "../../../vocabulary/names.ts";
import type { Container } from "../../../kinds/core/pod/container.ts";
import type { Template } from "./pod-templates.ts";

/**
 * Whether an update of a pod must be evaluated: it changes an image, the set of containers or a seccomp annotation. Other
 * updates, such as of labels, are allowed in a violating pod.
 */
export function isSignificantUpdate(pod: Template, live: Template, domain: Domain): boolean {
  const annotation = (name: string) => labelKey(domain, name, "container.seccomp.security.alpha");
  const differs = (container: Container, before: Container | undefined): boolean => {
    if (container.image !== before?.image) return true;
    const key = annotation(container.name);
    return pod.metadata?.annotations?.[key] !== live.metadata?.annotations?.[key];
  };
  for (const member of ["containers", "initContainers"] as const) {
    const now: readonly Container[] = pod.spec?.[member] ?? [];
    const before: readonly Container[] = live.spec?.[member] ?? [];
    if (now.length !== before.length) return true;
    if (now.some((container, index) => differs(container, before[index]))) return true;
  }
  const before = new Map(live.spec?.ephemeralContainers?.map((container) => [container.name, container]));
  return (pod.spec?.ephemeralContainers ?? []).some(
    (container) => !before.has(container.name) || differs(container, before.get(container.name)),
  );
}
