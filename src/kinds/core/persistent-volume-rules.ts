import { byRelease, since } from "../../base/release-rows.ts";
import type { KindContext } from "../../schema/context.ts";
import { deepClone } from "../../base/json/value.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { dnsLabel, dnsSubdomain } from "../checks/names.ts";
import { readQuantity } from "../checks/quantities.ts";
import { same, unchanged } from "../checks/values.ts";
import { checkAccessModes, classWarnings } from "./access-modes.ts";
import { labelWarnings, successorOf } from "./deprecated-labels.ts";
import type { PersistentVolumeSpec } from "./persistent-volume-spec.ts";

/** Volume sources; if there are several, the first in this order is accepted and the next is reported. */
const sources = [
  "hostPath",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "glusterfs",
  "flocker",
  "nfs",
  "rbd",
  "quobyte",
  "cephfs",
  "iscsi",
  "cinder",
  "fc",
  "flexVolume",
  "azureFile",
  "vsphereVolume",
  "photonPersistentDisk",
  "portworxVolume",
  "azureDisk",
  "scaleIO",
  "local",
  "storageos",
  "csi",
] as const satisfies readonly (keyof PersistentVolumeSpec)[];

/** Checks the spec of a persistent volume. */
export function checkVolumeSpec(spec: PersistentVolumeSpec, report: FieldReport): void {
  checkAccessModes(spec.accessModes, report.at("accessModes"));
  checkCapacity(spec.capacity ?? {}, report.at("capacity"));
  const { nodeAffinity, hostPath } = spec;
  if (nodeAffinity !== undefined && nodeAffinity.required === undefined) {
    report.at("nodeAffinity", "required").required("must specify required node constraints");
  }
  checkSources(spec, report);
  if (spec.local !== undefined && nodeAffinity === undefined) {
    report.at("nodeAffinity").required("a local volume is on certain nodes");
  }
  if (spec.persistentVolumeReclaimPolicy === "Recycle" && isRoot(hostPath?.path)) {
    report.at("persistentVolumeReclaimPolicy").forbidden("may not be 'recycle' for a hostPath mount of '/'");
  }
}

/** As {@link checkVolumeSpec}, for the inline volume of an attachment, in which much is not allowed. */
export function checkInlineVolumeSpec(spec: PersistentVolumeSpec, report: FieldReport): void {
  const refuse = (
    name: keyof PersistentVolumeSpec,
    words = "may not be specified in the context of inline volumes",
  ) => report.at(name).forbidden(words);
  if (spec.claimRef !== undefined) refuse("claimRef");
  if (spec.capacity !== undefined) refuse("capacity");
  if (spec.csi === undefined)
    report.at("csi").required("has to be specified in the context of inline volumes");
  checkAccessModes(spec.accessModes, report.at("accessModes"));
  const policy = spec.persistentVolumeReclaimPolicy;
  if (policy !== undefined && policy !== "Retain") {
    refuse("persistentVolumeReclaimPolicy", "may only be 'Retain' in the context of inline volumes");
  }
  if (spec.nodeAffinity !== undefined) refuse("nodeAffinity");
  if (spec.storageClassName !== undefined) refuse("storageClassName");
  if (spec.volumeMode !== undefined && spec.volumeMode !== "Filesystem") {
    refuse("volumeMode", "may only be 'Filesystem' in the context of inline volumes");
  }
  checkSources(spec, report);
}

function checkCapacity(capacity: Readonly<Record<string, string>>, report: FieldReport): void {
  const names = Object.keys(capacity);
  if (names.length === 0) report.required();
  if (names.length !== 1 || names[0] !== "storage") report.notSupported(capacity, ["storage"]);
  for (const name of names) {
    if (report.full) return;
    const quantity = readQuantity(capacity[name]!, report.key(name));
    if (quantity !== undefined && quantity.nanos <= 0n) {
      report.key(name).invalid(capacity[name], "must be greater than zero");
    }
  }
}

function checkSources(spec: PersistentVolumeSpec, report: FieldReport): void {
  const present = sources.filter((name) => spec[name] !== undefined);
  if (present.length === 0) report.required("must specify a volume type");
  for (const name of present.slice(1)) report.at(name).forbidden("may not specify more than 1 volume type");
}

/** Returns true if a path is the root after removing empty segments and dots. */
function isRoot(path: string | undefined): boolean {
  return path !== undefined && /^\/[/.]*$/.test(path) && !/\.{3}/.test(path);
}

/** Rejects changes of the source and the mode, and of the node affinity once it is set. */
export function checkVolumeUpdate(
  spec: PersistentVolumeSpec,
  live: PersistentVolumeSpec,
  report: FieldReport,
  vocabulary: Vocabulary,
): void {
  const secretIsNew =
    live.csi !== undefined && spec.csi !== undefined && live.csi.controllerExpandSecretRef === undefined;
  const moved = sources.some((name) => {
    if (name !== "csi" || !secretIsNew) return !same(spec[name], live[name]);
    const { controllerExpandSecretRef: _, ...csi } = spec.csi!;
    return !same(csi, live.csi);
  });
  // As in the reference, this path names all sources together, and the others lack `spec`.
  if (moved) report.at("spec", "persistentvolumesource").forbidden("is immutable after creation");
  unchanged(spec.volumeMode, live.volumeMode, report.at("volumeMode"));
  const before = live.nodeAffinity;
  if (before?.required === undefined) return;
  if (
    spec.nodeAffinity?.required === undefined ||
    !same(spec.nodeAffinity, renewed(before, spec, vocabulary))
  ) {
    unchanged(spec.nodeAffinity, before, report.at("nodeAffinity"));
  }
}

/** Secret references of a driver that name Secrets of the store. */
const driverSecrets = [
  "controllerPublishSecretRef",
  "controllerExpandSecretRef",
  "nodePublishSecretRef",
  "nodeExpandSecretRef",
] as const;

/**
 * Checks the names and namespaces of a driver's secrets. Names with dots are allowed only if the live volume has one,
 * because older releases allowed them.
 */
export function checkDriverSecrets(
  { csi }: PersistentVolumeSpec,
  live: PersistentVolumeSpec | undefined,
  report: FieldReport,
): void {
  const before = [...driverSecrets, "nodeStageSecretRef"] as const;
  const mayHaveDots = before.some((member) => live?.csi?.[member]?.name?.includes(".") === true);
  for (const member of driverSecrets) {
    const { name = "", namespace = "" } = csi?.[member] ?? {};
    const here = report.at("csi", member);
    if (name !== "") (mayHaveDots ? dnsSubdomain : dnsLabel)(name, here.at("name"));
    if (namespace !== "") dnsLabel(namespace, here.at("namespace"));
  }
}

type Affinity = NonNullable<PersistentVolumeSpec["nodeAffinity"]>;

/** Returns the current affinity, with deprecated label keys replaced where the new affinity has their replacements. */
function renewed(before: Affinity, spec: PersistentVolumeSpec, vocabulary: Vocabulary): Affinity {
  const terms = spec.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  const copy = deepClone(before);
  for (const [index, term] of (copy.required?.nodeSelectorTerms ?? []).entries()) {
    for (const [at, expression] of (term.matchExpressions ?? []).entries()) {
      const key = terms[index]?.matchExpressions?.[at]?.key;
      if (key !== undefined && key === successorOf(expression.key, vocabulary)) expression.key = key;
    }
  }
  return copy;
}

const goneSources: Readonly<Partial<Record<(typeof sources)[number], string>>> = {
  photonPersistentDisk: "deprecated in v1.11, non-functional in v1.16+",
  scaleIO: "deprecated in v1.16, non-functional in v1.22+",
  storageos: "deprecated in v1.22, non-functional in v1.25+",
  glusterfs: "deprecated in v1.25, non-functional in v1.26+",
};

/** Sources that releases from 1.28 on also warn of. */
const laterGoneSources: typeof goneSources = {
  cephfs: "deprecated in v1.28, non-functional in v1.31+",
  rbd: "deprecated in v1.28, non-functional in v1.31+",
};

const goneSourcesOf = byRelease(goneSources, since("1.28", { ...goneSources, ...laterGoneSources }));

/** Returns the warnings for a volume. */
export function volumeWarnings(
  spec: PersistentVolumeSpec,
  annotations: Readonly<Record<string, string>> | undefined,
  context: KindContext,
): string[] {
  const { vocabulary } = context;
  const warnings: string[] = [];
  for (const [index, term] of (spec.nodeAffinity?.required?.nodeSelectorTerms ?? []).entries()) {
    for (const [at, { key }] of (term.matchExpressions ?? []).entries()) {
      const path = `spec.nodeAffinity.required.nodeSelectorTerms[${index}].matchExpressions[${at}].key`;
      warnings.push(...labelWarnings(path, key, vocabulary));
    }
  }
  warnings.push(...classWarnings(annotations, vocabulary));
  if (spec.persistentVolumeReclaimPolicy === "Recycle") {
    warnings.push(
      "spec.persistentVolumeReclaimPolicy: Recycle is deprecated; let volumes be made on demand instead",
    );
  }
  const gone = goneSourcesOf(context);
  for (const name of sources) {
    if (gone[name] !== undefined && spec[name] !== undefined) warnings.push(`spec.${name}: ${gone[name]}`);
  }
  return warnings;
}
