import type { Container } from "../../../kinds/core/pod/container.ts";
import type { PodSpecValue } from "../../pod-spec.ts";

/** A pod, or a template of pods, as the controls look at it. */
export interface CheckedPod {
  readonly spec: PodSpecValue;
  readonly annotations: Readonly<Record<string, string>>;
  /** All its containers: initial, regular and ephemeral. */
  readonly containers: readonly Container[];
  /** Domain of the product's annotations. */
  readonly domain: string;
}

/** What a pod does that a control forbids. */
export interface Violation {
  /** Short: `hostPort`. */
  readonly reason: string;
  /** Who does it, and what is allowed: `container "c" uses hostPort 80`. */
  readonly detail: string;
}

export type Check = (pod: CheckedPod) => Violation | undefined;

/** One thing that a Pod security standard forbids. */
export interface Control {
  readonly id: string;
  /** The controls of `baseline` are part of `restricted`, too. */
  readonly level: "baseline" | "restricted";
  /** The rules, the oldest first. Each holds from its minor release on, until the next one. */
  readonly rules: readonly { readonly since: number; readonly check: Check }[];
  /** The control of `baseline` that this one takes the place of, as soon as it has a rule. */
  readonly replaces?: string;
}

/** Takes a metadata and a spec apart for the controls. */
export function checkedPod(
  { metadata, spec }: { readonly metadata?: PodMetadata | undefined; readonly spec: PodSpecValue },
  domain: string,
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

/** The names of the containers that a condition holds for. */
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

/** Where something is set: `pod and container "a"`. */
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

/** The different values, in order. */
export function distinct(values: Iterable<string>): readonly string[] {
  return [...new Set(values)].toSorted();
}

/** Windows has no such setting, so a pod that says that it runs there needs none. */
export function exceptOnWindows(check: Check): Check {
  return (pod) => (pod.spec.os?.name === "windows" ? undefined : check(pod));
}
