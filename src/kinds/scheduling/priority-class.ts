import { since } from "../../base/release-rows.ts";
import { kind } from "./v1.ts";
import type { Column } from "../../schema/columns.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { bool, field, int32, string } from "../../schema/types.ts";
import { unchanged } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";

const systemPrefix = "system-";
const highestUserPriority = 1_000_000_000;

/** The system priority classes with their values. */
export const systemClasses: ReadonlyMap<string, number> = new Map([
  ["system-cluster-critical", 2 * highestUserPriority],
  ["system-node-critical", 2 * highestUserPriority + 1000],
]);

const preemptionPolicies = ["Never", "PreemptLowerPriority"];

const preemptionColumn: Column<{ readonly preemptionPolicy?: string | undefined }> = {
  name: "PreemptionPolicy",
  type: "string",
  doc: "Whether pods of the class preempt others.",
  cell: ({ preemptionPolicy }) => preemptionPolicy ?? "",
};

export const PriorityClass = kind({
  name: "PriorityClass",
  resource: "priorityclasses",
  singular: "priorityclass",
  shortNames: ["pc"],
  scope: "Cluster",
  doc: "Maps a name to a priority of pods.",
  effect: {
    enforced:
      "new pods get the priority of their class, which must exist, or of the default one (plugin Priority)",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the class.").emitEmpty(),
    value: field(2, int32, "Priority of the pods; pods with higher values are scheduled first.").required(),
    globalDefault: field(
      3,
      bool,
      "Whether pods without a class get this one; at most one class can be the default.",
    ),
    description: field(4, string, "Human-readable description of when to use the class."),
    preemptionPolicy: field(
      5,
      string,
      "Whether pods of the class preempt others: PreemptLowerPriority or Never. Default: PreemptLowerPriority.",
    )
      .nullable()
      .oneOf(...preemptionPolicies)
      .unchecked()
      .unpublishedDefault("PreemptLowerPriority"),
  },
  // The generation is always 1, because nothing can be changed.
  generationOf: () => undefined,
  // An update with another policy is reported as immutable only.
  validateCreate({ preemptionPolicy }, report) {
    const preemptionPolicyReport = report.at("preemptionPolicy");
    if (preemptionPolicy === "") preemptionPolicyReport.required();
    else if (preemptionPolicy !== undefined && !preemptionPolicies.includes(preemptionPolicy))
      preemptionPolicyReport.notSupported(preemptionPolicy, preemptionPolicies);
  },
  validate(priorityClass, report) {
    const name = priorityClass.metadata.name ?? "";
    if (!name.startsWith(systemPrefix)) {
      if (priorityClass.value > highestUserPriority) {
        report.at("value").forbidden(`the highest priority that users may define is ${highestUserPriority}`);
      }
    } else if (!isSystemClass(priorityClass)) {
      report
        .at("metadata", "name")
        .forbidden(`names that start with '${systemPrefix}' are for the system's own classes`);
    }
  },
  validateUpdate(priorityClass, live, report) {
    if (priorityClass.value !== live.value) report.at("value").forbidden("may not be changed in an update");
    unchanged(priorityClass.preemptionPolicy, live.preemptionPolicy, report.at("preemptionPolicy"));
  },
  columns: [
    nameColumn,
    { name: "Value", type: "integer", doc: "Priority of the pods.", cell: ({ value }) => value },
    {
      name: "Global-Default",
      type: "boolean",
      doc: "Whether pods without a class get this one.",
      cell: (priorityClass) => priorityClass.globalDefault ?? false,
    },
    ageColumn,
    since("1.32", preemptionColumn),
  ],
});
export type PriorityClass = ObjectFor<typeof PriorityClass>;

function isSystemClass({ metadata, value, globalDefault }: PriorityClass): boolean {
  return systemClasses.get(metadata.name ?? "") === value && globalDefault !== true;
}
