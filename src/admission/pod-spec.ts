import type { Pod } from "../kinds/core/pod/pod.ts";
import type { Container } from "../kinds/core/pod/container.ts";
import type { AdmissionRequest } from "../resources/engine/engine.ts";

/** What a pod says that it should be. */
export type PodSpecValue = NonNullable<Pod["spec"]>;

/** A toleration as pods carry it. */
export type TolerationValue = NonNullable<PodSpecValue["tolerations"]>[number];

/** The pod of a request to create or change one. */
export function podOf({ object }: AdmissionRequest): Pod & { spec: PodSpecValue } {
  const pod = object as unknown as Pod;
  pod.spec ??= { containers: [] } as unknown as PodSpecValue;
  // What lacks them is rejected later, by validation.
  pod.spec.containers ??= [];
  return pod as Pod & { spec: PodSpecValue };
}

/** One container of a pod, and the path to it: `spec.initContainers[0]`. */
export interface PlacedContainer {
  readonly container: Container;
  readonly path: string;
}

/** Every container of a pod: those that run before the others, the others, and those that were added to look into it. */
export function containersOf(spec: PodSpecValue): PlacedContainer[] {
  const placed = (member: string, containers: readonly unknown[] | undefined) =>
    (containers ?? []).map((container, index) => ({
      container: container as Container,
      path: `spec.${member}[${index}]`,
    }));
  return [
    ...placed("initContainers", spec.initContainers),
    ...placed("containers", spec.containers),
    ...placed("ephemeralContainers", spec.ephemeralContainers),
  ];
}

/** Adds a toleration to a pod, in place of one that differs in its seconds only. */
export function addToleration(spec: PodSpecValue, toleration: TolerationValue): void {
  const same = (one: TolerationValue): boolean =>
    one.key === toleration.key &&
    (one.operator ?? "Equal") === (toleration.operator ?? "Equal") &&
    (one.value ?? "") === (toleration.value ?? "") &&
    (one.effect ?? "") === (toleration.effect ?? "");
  const tolerations = spec.tolerations ?? [];
  const at = tolerations.findIndex(same);
  spec.tolerations = at === -1 ? [...tolerations, toleration] : tolerations.with(at, toleration);
}
