import { labelKey } from "../../../vocabulary/names.ts";
import { applies, byRelease, since, until } from "../../../base/release-rows.ts";
import type { KindContext } from "../../../schema/context.ts";
import { FieldReport } from "../../../schema/faults.ts";
import type { ApiObject } from "../../../schema/kind.ts";
import { quantityFrom } from "../../quantities.ts";
import { labelWarnings } from "../deprecated-labels.ts";
import { appArmorWarnings, hiddenVariables, laterWarnings, nameWarnings } from "./release-warnings.ts";
import { containerProfileAnnotation, podProfileAnnotation } from "./seccomp-annotations.ts";
import type { PodSpec } from "./spec-fields.ts";
import type { PodTemplateSpec } from "./spec.ts";

const goneVolumes: Readonly<Record<string, string>> = {
  gitRepo: "deprecated; fetch into an emptyDir with an init container instead",
  scaleIO: "deprecated, and no longer supported",
  flocker: "deprecated, and no longer supported",
  storageos: "deprecated, and no longer supported",
  quobyte: "deprecated, and no longer supported",
  photonPersistentDisk: "deprecated, and no longer supported",
  glusterfs: "deprecated",
};

/** Volumes that releases from 1.28 on also warn of. */
const laterGoneVolumes: Readonly<Record<string, string>> = {
  cephfs: "deprecated in v1.28, non-functional in v1.31+",
  rbd: "deprecated in v1.28, non-functional in v1.31+",
};

interface Workload extends ApiObject {
  spec?: { template?: PodTemplateSpec | null | undefined } | undefined;
}

/** Returns the warnings for the template of a new or changed workload. */
export function workloadWarnings(
  { spec, metadata }: Workload,
  context: KindContext,
  live: ApiObject | undefined,
): string[] {
  if (live !== undefined && live.metadata.generation === metadata.generation) return [];
  const template = spec?.template;
  return templateWarnings(template?.metadata, template?.spec, ["spec", "template"], context);
}

/** As {@link workloadWarnings}, for a workload whose pods have its name with a random suffix. */
export function namedWorkloadWarnings(
  workload: Workload,
  context: KindContext,
  live: ApiObject | undefined,
): string[] {
  return [
    ...(live === undefined ? nameWarnings(workload.metadata.name, "workload", context) : []),
    ...workloadWarnings(workload, context, live),
  ];
}

/** Returns the warnings for a pod or template. */
export function templateWarnings(
  metadata: { readonly annotations?: Readonly<Record<string, string>> | undefined } | undefined,
  spec: PodSpec | undefined,
  path: readonly string[],
  context: KindContext,
): string[] {
  if (spec === undefined) return [];
  const root = FieldReport.start().at(...path);
  const report = root.at("spec");
  return [
    ...nodeLabelWarnings(spec, report, context),
    ...volumeWarnings(spec, report, context),
    ...listWarnings(spec, report),
    ...containerWarnings(spec, report, context),
    ...laterWarnings(spec, report, context),
    ...annotationWarnings(metadata?.annotations, spec, root, context),
    ...appArmorWarnings(metadata?.annotations ?? {}, spec, root.at("metadata", "annotations"), context),
  ];
}

/** Warns of deprecated node labels. */
function nodeLabelWarnings(spec: PodSpec, report: FieldReport, { vocabulary }: KindContext): string[] {
  const warnings: string[] = [];
  const look = (key: string, at: FieldReport) => {
    if (key.includes("beta.")) warnings.push(...labelWarnings(at.path, key, vocabulary));
  };
  for (const key of Object.keys(spec.nodeSelector ?? {})) look(key, report.at("nodeSelector").key(key));
  const affinity = spec.affinity?.nodeAffinity;
  const required = affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const preferred = affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const base = report.at("affinity", "nodeAffinity");
  for (const [index, term] of required.entries()) {
    const at = base.at("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms", index);
    for (const [position, { key }] of (term.matchExpressions ?? []).entries()) {
      look(key, at.at("matchExpressions", position, "key"));
    }
  }
  for (const [index, { preference }] of preferred.entries()) {
    const at = base.at("preferredDuringSchedulingIgnoredDuringExecution", index, "preference");
    for (const [position, { key }] of (preference?.matchExpressions ?? []).entries()) {
      look(key, at.at("matchExpressions", position, "key"));
    }
  }
  for (const [index, { topologyKey }] of (spec.topologySpreadConstraints ?? []).entries()) {
    look(topologyKey, report.at("topologySpreadConstraints", index, "topologyKey"));
  }
  return warnings;
}

const goneVolumesOf = byRelease<typeof goneVolumes>(
  goneVolumes,
  since("1.28", { ...goneVolumes, ...laterGoneVolumes }),
);
/** Whether variables with the same name are duplicates, also with different values. */
const comparesNames = applies(until("1.28"));
const seccompStateOf = byRelease("deprecated", since("1.27", "without effect from release 1.27 on"));

function volumeWarnings(spec: PodSpec, report: FieldReport, context: KindContext): string[] {
  const gone = goneVolumesOf(context);
  return (spec.volumes ?? []).flatMap((volume, index) =>
    Object.keys(volume)
      .filter((name) => Object.hasOwn(gone, name))
      .map((name) => `${report.at("volumes", index, name).path}: ${gone[name]!}`),
  );
}

/** Warns of duplicate names in a list in which only one of them is used. */
function duplicates(
  names: readonly string[],
  noun: string,
  placeOf: (index: number) => FieldReport,
): string[] {
  const seen = new Set<string>();
  return names.flatMap((name, index) => {
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    return [`${placeOf(index).path}: duplicate ${noun} ${JSON.stringify(name)}`];
  });
}

function listWarnings(spec: PodSpec, report: FieldReport): string[] {
  const secrets = (spec.imagePullSecrets ?? []).map(({ name = "" }) => name);
  const secretAt = (index: number) => report.at("imagePullSecrets", index, "name");
  const addresses = (spec.hostAliases ?? []).map(({ ip = "" }) => ip);
  return [
    ...duplicates(addresses, "ip", (index) => report.at("hostAliases", index, "ip")),
    ...duplicates(secrets, "name", secretAt),
    ...secrets.flatMap((name, index) =>
      name === "" ? [`${secretAt(index).path}: invalid empty name ""`] : [],
    ),
  ];
}

const whole = ["memory", "ephemeral-storage"];

/** Warns of fractional bytes. */
function fractions(amounts: Readonly<Record<string, string>> | undefined, report: FieldReport): string[] {
  return whole.flatMap((name) => {
    const text = amounts?.[name];
    const nanos = text === undefined ? undefined : quantityFrom(text)?.nanos;
    if (text === undefined || nanos === undefined || nanos % 1_000_000_000n === 0n) return [];
    return [`${report.key(name).path}: fractional byte value "${text}" is invalid, must be an integer`];
  });
}

/** Warns of fractional bytes and of duplicate variables. */
function containerWarnings(spec: PodSpec, report: FieldReport, context: KindContext): string[] {
  const namesAreCompared = comparesNames(context);
  const warnings = fractions(spec.overhead, report.at("overhead"));
  for (const list of ["initContainers", "containers", "ephemeralContainers"] as const) {
    for (const [index, { resources, env }] of (spec[list] ?? []).entries()) {
      const at = report.at(list, index);
      const names = (env ?? []).map(({ name }) => name);
      warnings.push(
        ...fractions(resources?.limits, at.at("resources", "limits")),
        ...fractions(resources?.requests, at.at("resources", "requests")),
        ...(namesAreCompared
          ? duplicates(names, "name", (position) => at.at("env", position, "name"))
          : hiddenVariables(env ?? [], at.at("env"))),
      );
    }
  }
  return warnings;
}

/** Warns of annotations that are replaced by fields. */
function annotationWarnings(
  annotations: Readonly<Record<string, string>> | undefined,
  spec: PodSpec,
  root: FieldReport,
  context: KindContext,
): string[] {
  if (annotations === undefined) return [];
  const { vocabulary } = context;
  const { domain } = vocabulary;
  const seccompState = seccompStateOf(context);
  const replaced: [annotation: string, field: string, state?: string][] = [
    [labelKey(domain, "critical-pod", "scheduler.alpha"), "priorityClassName"],
    [labelKey(domain, "sysctls", "security.alpha"), "sysctls"],
    [labelKey(domain, "unsafe-sysctls", "security.alpha"), "sysctls"],
  ];
  if (spec.securityContext?.seccompProfile === undefined) {
    replaced.push([podProfileAnnotation(vocabulary), "seccompProfile", seccompState]);
  }
  for (const { name, securityContext } of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    if (securityContext?.seccompProfile !== undefined) continue;
    replaced.push([containerProfileAnnotation(vocabulary, name), "seccompProfile", seccompState]);
  }
  return replaced
    .filter(([annotation]) => Object.hasOwn(annotations, annotation))
    .map(([annotation, field, state = "deprecated"]) => {
      const at = root.at("metadata", "annotations").key(annotation).path;
      return `${at}: ${state}; use the "${field}" field instead`;
    });
}
