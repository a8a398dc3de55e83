import {
  foregroundFinalizer,
  isQualifiedFinalizer,
  notQualified,
  orphanFinalizer,
} from "../../kinds/checks/finalizers.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { ObjectMetaValue } from "../../schema/kind.ts";
import {
  checkAnnotations,
  checkFinalizerName,
  checkGeneration,
  checkLabels,
  checkName,
  checkNamespace,
  checkOwners,
  type NameForm,
} from "../../schema/object-meta-rules.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { Engine, Target } from "../engine/engine.ts";

/** Validates the metadata of an object before it is stored. */
export function checkMetadata(
  target: Target,
  meta: ObjectMetaValue,
  engine: Pick<Engine, "registry" | "vocabulary" | "featureEnabled">,
  report: FieldReport,
): void {
  const { vocabulary, registry } = engine;
  checkName(meta.name ?? "", nameFormOf(target, engine), report.at("name"));
  if (target.resource.namespaced) checkNamespace(meta.namespace ?? "", report.at("namespace"));
  checkLabels(meta.labels, report.at("labels"));
  checkAnnotations(meta.annotations, report.at("annotations"));
  checkGeneration(meta.generation, report.at("generation"));
  checkFinalizers(target, meta.finalizers ?? [], vocabulary, report.at("finalizers"));
  checkOwners(meta, report.at("ownerReferences"), registry.release);
}

/** Returns the format of the names of a resource type. */
export function nameFormOf(
  { resource: { kind } }: Target,
  { featureEnabled }: Pick<Engine, "featureEnabled">,
): NameForm {
  const { nameForm, gatedNameForm } = kind;
  return gatedNameForm !== undefined && featureEnabled(gatedNameForm.gate) ? gatedNameForm.form : nameForm;
}

function checkFinalizers(
  { resource: { kind } }: Target,
  finalizers: readonly string[],
  vocabulary: Vocabulary,
  report: FieldReport,
): void {
  for (const [index, name] of finalizers.entries()) {
    if (report.full) return;
    checkFinalizerName(name, report);
    if (!kind.anyFinalizer && !isQualifiedFinalizer(name, vocabulary))
      report.at(index).invalid(name, notQualified);
  }
  if (finalizers.includes(orphanFinalizer) && finalizers.includes(foregroundFinalizer)) {
    report.invalid(finalizers, `${orphanFinalizer} and ${foregroundFinalizer} can't both be set`);
  }
}

/** Members of metadata that an update can't change. */
const immutable = ["name", "namespace", "uid", "deletionTimestamp", "deletionGracePeriodSeconds"] as const;

/** Validates the changes of metadata in an update. */
export function checkMetadataUpdate(meta: ObjectMetaValue, live: ObjectMetaValue, report: FieldReport): void {
  for (const name of immutable) {
    if (meta[name] === live[name]) continue;
    // Reported twice, as in the reference.
    for (const field of [report.at(name), report.at(name)]) field.invalid(meta[name], "field is immutable");
  }
  if (live.deletionTimestamp === undefined) return;
  const before = new Set(live.finalizers ?? []);
  const added = (meta.finalizers ?? []).filter((one) => !before.has(one));
  if (added.length > 0) {
    report
      .at("finalizers")
      .forbidden(
        `no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(added)}`,
      );
  }
}
