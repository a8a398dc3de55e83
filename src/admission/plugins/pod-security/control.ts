import type { Domain } from "../../../vocabulary/names.ts";
import type { Container } from "../../../kinds/core/pod/container.ts";
import type { PodSpecValue } from "../../pod-spec.ts";

/** The parts of a pod or pod template that controls check. */
export interface CheckedPod {
  readonly spec: PodSpecValue;
  readonly annotations: Readonly<Record<string, string>>;
  /** All its containers: initial, regular and ephemeral. */
  readonly containers: readonly Container[];
  /** Domain of annotations. */
  readonly domain: Domain;
}

/** A violation of a control. */
export interface Violation {
  /** Short: `hostPort`. */
  readonly reason: string;
  /** The violating containers and the values: `container "c" uses hostPort 80`. */
  readonly detail: string;
}

export type Check = (pod: CheckedPod) => Violation | undefined;

/** A rule of a control. */
interface Rule {
  /** Minor release of the first version of the standard with the rule. */
  readonly since: number;
  /** Minor release of the first server with the rule; 0 if undefined. */
  readonly sinceServer?: number;
  readonly check: Check;
}

/** A control of a Pod security standard. */
export interface Control {
  readonly id: string;
  /** The lowest level with this control; `restricted` includes the controls of `baseline`. */
  readonly level: "baseline" | "restricted";
  /** The rules, oldest first. Each is effective from its minor release until the next one. */
  readonly rules: readonly Rule[];
  /** The control of `baseline` that this one replaces from its first rule on. */
  readonly replaces?: string;
}

/** Collects the parts of a pod for the controls. */
export function checkedPod(
  { metadata, spec }: { readonly metadata?: PodMetadata | undefined; readonly spec: PodSpecValue },
  domain: Domain,
): CheckedPod {
  const { initContainers = [], containers = [], ephemeralContainers = [] } = spec as Partial<PodSpecValue>;
  return {
    spec,
    annotations: metadata?.annotations ?? {},
    containers: [...initContainers, ...containers, ...ephemeralContainers],
    domain,
  };
}

interface PodMetadata {
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** Returns the names of the containers that match a condition. */
export function namesWhere(
  { containers }: CheckedPod,
  condition: (container: Container) => boolean,
): readonly string[] {
  return containers.filter(condition).map(({ name }) => name);
}

/** `container "a"`, `containers "a", "b"`. */
export function containersNamed(names: readonly string[]): string {
  return `${plural(names, "container")} ${quoted(names)}`;
}

/** Names what sets a forbidden value, for messages: `pod and container "a"`. */
export function settersNamed(pod: boolean, containers: readonly string[]): string {
  const setters = pod ? ["pod"] : [];
  if (containers.length > 0) setters.push(containersNamed(containers));
  return setters.join(" and ");
}

/** `"a", "b"`. */
export function quoted(values: Iterable<string>): string {
  return [...values].map((value) => `"${value}"`).join(", ");
}

/** The word, with an `s` unless there is just one value. */
export function plural(values: readonly unknown[], word: string): string {
  return values.length === 1 ? word : `${word}s`;
}

/** Returns the values without duplicates, sorted. */
export function distinct(values: Iterable<string>): readonly string[] {
  return [...new Set(values)].toSorted();
}

/** Limits a check to pods without a user namespace of their own. */
export function exceptInUserNamespace(check: Check): Check {
  return (pod) => (pod.spec.hostUsers === false ? undefined : check(pod));
}

/** Limits a check to pods that don't declare Windows as their system, which lacks the setting. */
export function exceptOnWindows(check: Check): Check {
  return (pod) => (pod.spec.os?.name === "windows" ? undefined : check(pod));
}
