import { objectAs } from "../schema/api-object.ts";
import type { Pod } from "../kinds/core/pod/pod.ts";
import type { Container } from "../kinds/core/pod/container.ts";
import type { AdmissionRequest } from "../resources/engine/engine.ts";

export type PodSpecValue = NonNullable<Pod["spec"]>;

export type TolerationValue = NonNullable<PodSpecValue["tolerations"]>[number];

/** Returns the pod of a create or update; a missing spec or list of containers is added. */
export function podOf({ object }: AdmissionRequest): Pod & { spec: PodSpecValue } {
  const pod = objectAs<Pod>(object!);
  pod.spec ??= objectAs<PodSpecValue>({ containers: [] });
  // Validation rejects a pod without containers later.
  pod.spec.containers ??= [];
  return pod as Pod & { spec: PodSpecValue };
}

/** A container of a pod and its path, such as `spec.initContainers[0]`. */
export interface ContainerWithPath {
  readonly container: Container;
  readonly path: string;
}

/** Returns the init containers, containers and ephemeral containers of a pod. */
export function containersOf(spec: PodSpecValue): ContainerWithPath[] {
  const withPaths = (member: string, containers: readonly unknown[] | undefined) =>
    (containers ?? []).map((container, index) => ({
      container: container as Container,
      path: `spec.${member}[${index}]`,
    }));
  return [
    ...withPaths("initContainers", spec.initContainers),
    ...withPaths("containers", spec.containers),
    ...withPaths("ephemeralContainers", spec.ephemeralContainers),
  ];
}

/** Adds a toleration to a pod; replaces one that differs only in `tolerationSeconds`. */
export function addToleration(spec: PodSpecValue, toleration: TolerationValue): void {
  const isSame = (other: TolerationValue): boolean =>
    other.key === toleration.key &&
    (other.operator ?? "Equal") === (toleration.operator ?? "Equal") &&
    (other.value ?? "") === (toleration.value ?? "") &&
    (other.effect ?? "") === (toleration.effect ?? "");
  const tolerations = spec.tolerations ?? [];
  const index = tolerations.findIndex(isSame);
  spec.tolerations = index === -1 ? [...tolerations, toleration] : tolerations.with(index, toleration);
}
