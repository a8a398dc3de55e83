import { labelKey } from "../../vocabulary/names.ts";
import { StatusError } from "../../base/status-error.ts";
import type { Pod } from "../../kinds/core/pod/pod.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/**
 * Returns the selected container of a pod: the requested one, else the only one, else that of the pod's annotation.
 *
 * @param requested name; empty for none.
 * @throws {StatusError} BadRequest if there is no such container, or several without a selection.
 */
export function containerOf({ metadata, spec }: Pod, requested: string, { domain }: Vocabulary): string {
  const pod = metadata.name!;
  const containers = spec?.containers ?? [];
  const names = [spec?.initContainers ?? [], containers, spec?.ephemeralContainers ?? []]
    .flat()
    .map(({ name }) => name);
  if (requested !== "") {
    if (names.includes(requested)) return requested;
    throw new StatusError("BadRequest", `container ${requested} is not valid for pod ${pod}`);
  }
  if (containers.length === 1) return containers[0]!.name;
  const annotated = metadata.annotations?.[labelKey(domain, "default-container", "kubectl")];
  if (annotated !== undefined && names.includes(annotated)) return annotated;
  const choice = names.length === 0 ? "" : `, choose one of: [${names.join(" ")}]`;
  throw new StatusError("BadRequest", `a container name must be specified for pod ${pod}${choice}`);
}
