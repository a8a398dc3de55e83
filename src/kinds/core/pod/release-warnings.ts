import { dnsLabelFaults, labelValueFaults } from "../../../base/names.ts";
import { allByRelease, applies, since } from "../../../base/release-rows.ts";
import type { KindContext } from "../../../schema/context.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { addressWarnings } from "../../checks/addresses.ts";
import { same } from "../../checks/values.ts";
import { appArmorPrefix } from "./annotation-rules.ts";
import type { PodSpec } from "./spec-fields.ts";

const sources = allByRelease(
  since("1.27", gracePeriodWarnings),
  since("1.28", selectorWarnings),
  since("1.28", portWarnings),
  since("1.33", preferenceWarnings),
  since("1.33", portNameWarnings),
  since("1.33", formatWarnings),
);

/** Returns the warnings that only some releases have. */
export function laterWarnings(spec: PodSpec, report: FieldReport, context: KindContext): string[] {
  return sources(context).flatMap((source) => source(spec, report));
}

function gracePeriodWarnings(
  { terminationGracePeriodSeconds: seconds = 0 }: PodSpec,
  report: FieldReport,
): string[] {
  if (seconds >= 0) return [];
  return [
    `${report.at("terminationGracePeriodSeconds").path}: must be >= 0; negative values are treated as 1`,
  ];
}

/** Warns of constraints and affinity terms without a selector, which match no pod. */
function selectorWarnings(spec: PodSpec, report: FieldReport): string[] {
  const warnings: string[] = [];
  const look = (selector: unknown, at: FieldReport): void => {
    if (selector === undefined || selector === null)
      warnings.push(`${at.at("labelSelector").path}: a null labelSelector results in matching no pod`);
  };
  for (const [index, { labelSelector }] of (spec.topologySpreadConstraints ?? []).entries())
    look(labelSelector, report.at("topologySpreadConstraints", index));
  for (const name of ["podAffinity", "podAntiAffinity"] as const) {
    const affinity = spec.affinity?.[name];
    const required = affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    const preferred = affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
    const at = report.at("affinity", name);
    for (const [index, { labelSelector }] of required.entries())
      look(labelSelector, at.at("requiredDuringSchedulingIgnoredDuringExecution", index));
    for (const [index, { podAffinityTerm }] of preferred.entries())
      look(
        podAffinityTerm?.labelSelector,
        at.at("preferredDuringSchedulingIgnoredDuringExecution", index, "podAffinityTerm"),
      );
  }
  return warnings;
}

/** Warns of preferences for nodes whose values can't be those of labels. */
function preferenceWarnings(spec: PodSpec, report: FieldReport): string[] {
  const preferred = spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const base = report.at("affinity", "nodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution");
  return preferred.flatMap(({ preference }, index) =>
    (preference?.matchExpressions ?? []).flatMap(({ values = [] }, position) =>
      values.flatMap((value, at) => {
        const place = base.at(index, "preference", "matchExpressions", position, "values", at);
        return labelValueFaults(value).map((message) => `${place.path}: ${message}`);
      }),
    ),
  );
}

type Port = NonNullable<NonNullable<PodSpec["containers"]>[number]["ports"]>[number];

function* portsOf(spec: PodSpec, report: FieldReport): Generator<readonly [Port, FieldReport]> {
  for (const list of ["initContainers", "containers", "ephemeralContainers"] as const)
    for (const [index, { ports }] of (spec[list] ?? []).entries())
      for (const [position, port] of (ports ?? []).entries())
        yield [port, report.at(list, index, "ports", position)];
}

/** Number of earlier definitions of a port that a definition is compared with. */
const maxCompared = 4;

/** Warns of ports with an address but no port of the host, and of ports that are defined more than once. */
function portWarnings(spec: PodSpec, report: FieldReport): string[] {
  const warnings: string[] = [];
  const earlier = new Map<string, (readonly [Port, FieldReport])[]>();
  for (const [port, at] of portsOf(spec, report)) {
    const { hostIP = "", hostPort = 0 } = port;
    if (hostIP !== "" && hostPort === 0) warnings.push(`${at.path}: hostIP set without hostPort`);
    const key = `${port.containerPort}/${port.protocol}`;
    const others = earlier.get(key) ?? [];
    earlier.set(key, others);
    for (const [other, place] of others) {
      const relation = relationOf(port, other);
      if (relation !== undefined) warnings.push(`${at.path}: ${relation} port definition with ${place.path}`);
    }
    if (others.length < maxCompared) others.push([port, at]);
  }
  return warnings;
}

/** How two definitions of a port are in each other's way, if they are. */
function relationOf(one: Port, other: Port): string | undefined {
  const [port, otherPort] = [one.hostPort ?? 0, other.hostPort ?? 0];
  const [address, otherAddress] = [one.hostIP ?? "", other.hostIP ?? ""];
  if (address === otherAddress && port === otherPort) return "duplicate";
  if (port === 0 || otherPort === 0) return "overlapping";
  const oneIsOpen = (address === "") !== (otherAddress === "");
  return port === otherPort && oneIsOpen ? "dangerously ambiguous" : undefined;
}

/** Warns of ports with the name of an earlier one: only that is selected by the name. */
function portNameWarnings(spec: PodSpec, report: FieldReport): string[] {
  const warnings: string[] = [];
  const first = new Map<string, FieldReport>();
  for (const [{ name = "" }, at] of portsOf(spec, report)) {
    if (name === "") continue;
    const other = first.get(name)?.path;
    if (other === undefined) first.set(name, at);
    else
      warnings.push(
        `${at.path}: duplicate port name ${JSON.stringify(name)} with ${other}, services and probes that select ports by name will use ${other}`,
      );
  }
  return warnings;
}

/** Warns of addresses that aren't in their canonical form. */
function formatWarnings(spec: PodSpec, report: FieldReport): string[] {
  const servers = (spec.dnsConfig?.nameservers ?? []).flatMap((server, index) =>
    addressWarnings(report.at("dnsConfig", "nameservers", index).path, server),
  );
  const aliases = (spec.hostAliases ?? []).flatMap(({ ip = "" }, index) =>
    addressWarnings(report.at("hostAliases", index, "ip").path, ip),
  );
  return [...servers, ...aliases];
}

/** Warns of variables that replace an earlier one of the same name without using its value. */
export function hiddenVariables(
  variables: readonly {
    readonly name: string;
    readonly value?: string | undefined;
    readonly valueFrom?: unknown;
  }[],
  report: FieldReport,
): string[] {
  const seen = new Set<string>();
  return variables.flatMap(({ name, value = "", valueFrom }, index) => {
    const hides = seen.has(name);
    seen.add(name);
    const reference = `$(${name})`;
    const usesEarlier = valueFrom === undefined && value !== reference && value.includes(reference);
    return !hides || usesEarlier
      ? []
      : [
          `${report.at(index).path}: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`,
        ];
  });
}

const warnsOfNames = applies(since("1.27"));

/** Warns of the name of a new pod that can't be its hostname, or of a workload whose name begins those of its pods. */
export function nameWarnings(
  name: string | undefined,
  object: "pod" | "workload",
  context: Pick<KindContext, "release">,
): string[] {
  if (name === undefined || !warnsOfNames(context)) return [];
  const use = object === "pod" ? "the hostname of the pod" : "the names and hostnames of pods";
  return dnsLabelFaults(name).map(
    (message) => `metadata.name: this is used in ${use}; a DNS label is recommended: ${message}`,
  );
}

const appArmorTypes: Readonly<Record<string, string>> = {
  "": "RuntimeDefault",
  "runtime/default": "RuntimeDefault",
  unconfined: "Unconfined",
};

/** Warns of annotations of a pod or template that are replaced by AppArmor fields, unless the profile of the pod is the same. */
export function appArmorWarnings(
  annotations: Readonly<Record<string, string>>,
  spec: PodSpec,
  report: FieldReport,
  context: KindContext,
): string[] {
  if (!context.enabled("AppArmorFields")) return [];
  const podProfile = (spec.securityContext as WithProfile | undefined)?.appArmorProfile;
  const prefix = appArmorPrefix(context);
  const containers = [
    ...(spec.initContainers ?? []),
    ...(spec.containers ?? []),
    ...(spec.ephemeralContainers ?? []),
  ];
  return containers.flatMap(({ name, securityContext }) => {
    const annotation = annotations[prefix + name];
    if (annotation === undefined) return [];
    if ((securityContext as WithProfile | undefined)?.appArmorProfile !== undefined) return [];
    if (podProfile !== undefined && same(podProfile, profileOf(annotation))) return [];
    return [
      `${report.key(prefix + name).path}: deprecated since v1.30; use the "appArmorProfile" field instead`,
    ];
  });
}

interface WithProfile {
  readonly appArmorProfile?: object | undefined;
}

/** Returns the profile that an annotation names. */
function profileOf(annotation: string): object {
  const local = "localhost/";
  return annotation.startsWith(local)
    ? { type: "Localhost", localhostProfile: annotation.slice(local.length) }
    : { type: appArmorTypes[annotation] };
}
