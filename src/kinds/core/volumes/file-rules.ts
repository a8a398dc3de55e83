import type { FieldReport } from "../../../schema/faults.ts";
import { annotationMap, labelMap } from "../../checks/names.ts";
import { checkFieldRef, checkResourceRef, type FieldRef, type ResourceRef } from "../pod/downward-rules.ts";
import { quantityFrom } from "../../quantities.ts";

interface DownwardFile {
  readonly fieldRef?: FieldRef | undefined;
  readonly resourceFieldRef?: ResourceRef | undefined;
}

const fieldPaths = [
  "metadata.annotations",
  "metadata.labels",
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
];

/** Requires exactly one of a field of the pod and a resource of a container. */
export function checkDownwardFile(file: DownwardFile, report: FieldReport): void {
  const { fieldRef, resourceFieldRef } = file;
  if (fieldRef !== undefined) {
    checkFieldRef(fieldRef, fieldPaths, report.at("fieldRef"));
    if (resourceFieldRef !== undefined) {
      report.invalid("resource", "fieldRef and resourceFieldRef can not be specified simultaneously");
    }
  } else if (resourceFieldRef !== undefined) {
    checkResourceRef(resourceFieldRef, true, report.at("resourceFieldRef"));
  } else report.required("one of fieldRef and resourceFieldRef is required");
}

/** Requires a non-negative size. */
export function sizeLimit(text: string, report: FieldReport): void {
  const limit = quantityFrom(text);
  if (limit === undefined || limit.nanos < 0n) report.forbidden("must be a quantity of zero or more");
}

const allowed = new Set(["labels", "annotations", "creationTimestamp"]);

/** The server names a claim that is created for a pod, so its template may have only labels and annotations. */
export function claimTemplateMetadata(
  metadata: {
    readonly labels?: Readonly<Record<string, string>> | undefined;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
  },
  report: FieldReport,
): void {
  labelMap(metadata.labels ?? {}, report.at("labels"));
  annotationMap(metadata.annotations ?? {}, report.at("annotations"));
  for (const name of Object.keys(metadata)) {
    if (!allowed.has(name)) report.at(name).forbidden("cannot be set for an ephemeral volume");
  }
}
