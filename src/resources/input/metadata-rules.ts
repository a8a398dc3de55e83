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
  checkFinalizerForm,
  checkGeneration,
  checkLabels,
  checkName,
  checkNamespace,
  checkOwners,
} from "../../schema/object-meta-rules.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { Target } from "../engine/engine.ts";

/** Checks the metadata of an object that is about to be stored. */
export function checkMetadata(
  target: Target,
  meta: ObjectMetaValue,
  vocabulary: Vocabulary,
  report: FieldReport,
): void {
  checkName(meta.name ?? "", target.resource.kind.nameForm, report.at("name"));
  if (target.resource.namespaced) checkNamespace(meta.namespace ?? "", report.at("namespace"));
  checkLabels(meta.labels, report.at("labels"));
  checkAnnotations(meta.annotations, report.at("annotations"));
  checkGeneration(meta.generation, report.at("generation"));
  checkFinalizers(target, meta.finalizers ?? [], vocabulary, report.at("finalizers"));
  checkOwners(meta, report.at("ownerReferences"));
}

function checkFinalizers(
  { resource: { kind } }: Target,
  finalizers: readonly string[],
  vocabulary: Vocabulary,
  report: FieldReport,
): void {
  for (const [index, name] of finalizers.entries()) {
    if (report.full) return;
    checkFinalizerForm(name, report);
    if (!kind.anyFinalizer && !isQualifiedFinalizer(name, vocabulary))
      report.at(index).invalid(name, notQualified);
  }
  if (finalizers.includes(orphanFinalizer) && finalizers.includes(foregroundFinalizer)) {
    report.invalid(finalizers, `${orphanFinalizer} and ${foregroundFinalizer} can't both be set`);
  }
}

/** What an update can't change; a deletion begins with DELETE. */
const unchangeable = ["name", "namespace", "uid", "deletionTimestamp", "deletionGracePeriodSeconds"] as const;

/** Checks what an update may not change in metadata. */
export function checkMetadataUpdate(meta: ObjectMetaValue, live: ObjectMetaValue, report: FieldReport): void {
  for (const name of unchangeable) {
    if (meta[name] === live[name]) continue;
    // Twice, as in the reference: for every update, and for this kind's.
    for (const place of [report.at(name), report.at(name)]) place.invalid(meta[name], "field is immutable");
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
