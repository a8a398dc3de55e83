import { deepClone } from "../../base/json/value.ts";
import { apps } from "../../kinds/groups.ts";
import { extensions, groupVersion } from "./group-versions.ts";
import {
  at,
  change,
  drop,
  find,
  has,
  hasMembers,
  isSet,
  keepDefault,
  mustBeSet,
  put,
  when,
  type Rule,
  type VersionChange,
} from "./notes.ts";

const v1 = groupVersion(apps, "v1");
const extensionsV1beta1 = groupVersion(extensions, "v1beta1");
const v1beta1 = groupVersion(apps, "v1beta1");
const v1beta2 = groupVersion(apps, "v1beta2");

/** The number that means "no limit". */
const unlimited = 2_147_483_647;

/** Older versions copied these fields from the labels of the template. */
const fromTemplate: readonly Rule[] = [
  copyLabels("metadata.labels"),
  (part) => {
    if (!isSet(find(part.value, "spec.selector"))) copyLabels("spec.selector.matchLabels")(part);
  },
  at("spec", mustBeSet("selector", "the new version requires a selector")),
];

function copyLabels(to: string): Rule {
  return (part) => {
    const labels = find(part.value, "spec.template.metadata.labels");
    if (!hasMembers(labels) || hasMembers(find(part.value, to))) return;
    if (put(part.value, to, deepClone(labels))) {
      part.note(to, "written out: the labels of the template, as the older version filled in");
    }
  };
}

const selectorMustBeSet = at(
  "spec",
  mustBeSet("selector", "the new version requires a selector; it isn't copied from the template's labels"),
);

const noRollback = drop(
  "rollbackTo",
  "the new version has no rollback; apply the template of the desired revision",
);

const noTemplateGeneration = drop("templateGeneration", "the new version counts revisions by itself");

/** Rolling updates of older versions replaced one pod at a time. */
const oneByOne = when(
  (value) => !has("strategy.type", "Recreate")(value) || isSet(find(value, "strategy.rollingUpdate")),
  keepDefault("strategy.rollingUpdate.maxUnavailable", 1, "25%"),
  keepDefault("strategy.rollingUpdate.maxSurge", 1, "25%"),
);

const waitsForDeletion = keepDefault("updateStrategy.type", "OnDelete", "RollingUpdate");

export const appsChanges: readonly VersionChange[] = [
  change(
    extensionsV1beta1,
    v1,
    ["Deployment"],
    ...fromTemplate,
    at(
      "spec",
      noRollback,
      keepDefault("progressDeadlineSeconds", unlimited, 600),
      keepDefault("revisionHistoryLimit", unlimited, 10),
      oneByOne,
    ),
  ),
  change(
    v1beta1,
    v1,
    ["Deployment"],
    ...fromTemplate,
    at("spec", noRollback, keepDefault("revisionHistoryLimit", 2, 10)),
  ),
  change(v1beta2, v1, ["Deployment"], selectorMustBeSet, at("spec", noRollback)),

  ...[extensionsV1beta1, v1beta1].flatMap((old) => [
    change(old, v1, ["DaemonSet"], ...fromTemplate, at("spec", noTemplateGeneration, waitsForDeletion)),
    change(old, v1, ["StatefulSet"], ...fromTemplate, at("spec", waitsForDeletion)),
    change(old, v1, ["ReplicaSet"], ...fromTemplate),
  ]),
  change(v1beta2, v1, ["DaemonSet"], selectorMustBeSet, at("spec", noTemplateGeneration)),
  change(v1beta2, v1, ["StatefulSet", "ReplicaSet"], selectorMustBeSet),

  change(v1beta1, v1, ["ControllerRevision"]),
  change(v1beta2, v1, ["ControllerRevision"]),
];
