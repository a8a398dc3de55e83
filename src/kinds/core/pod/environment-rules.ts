import type { FieldReport } from "../../../schema/faults.ts";
import { checkFieldRef, checkResourceRef, type FieldRef, type ResourceRef } from "./downward-rules.ts";

interface Variable {
  readonly value?: string | undefined;
  readonly valueFrom?:
    | {
        readonly fieldRef?: FieldRef | undefined;
        readonly resourceFieldRef?: ResourceRef | undefined;
        readonly configMapKeyRef?: object | undefined;
        readonly secretKeyRef?: object | undefined;
        readonly fileKeyRef?: object | undefined;
      }
    | undefined;
}

const fieldPaths = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.podIP",
  "status.podIPs",
];

/** Requires a value or exactly one source. */
export function valueSources(variable: Variable, report: FieldReport): void {
  const source = variable.valueFrom;
  if (source === undefined) return;
  const from = report.at("valueFrom");
  if (source.fieldRef !== undefined) checkFieldRef(source.fieldRef, fieldPaths, from.at("fieldRef"));
  if (source.resourceFieldRef !== undefined) {
    checkResourceRef(source.resourceFieldRef, false, from.at("resourceFieldRef"));
  }
  const count = [
    source.fieldRef,
    source.resourceFieldRef,
    source.configMapKeyRef,
    source.secretKeyRef,
    source.fileKeyRef,
  ].filter((one) => one !== undefined).length;
  if (count === 0) {
    from.invalid("", "must give one of `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`");
  } else if ((variable.value ?? "") !== "") {
    from.invalid("", "may not be specified when `value` is not empty");
  } else if (count > 1) {
    from.invalid("", "may not have more than one field specified at a time");
  }
}

/** Requires exactly one object per source; reported at the list, as in the reference. */
export function envFromSources(
  sources: readonly {
    readonly configMapRef?: object | undefined;
    readonly secretRef?: object | undefined;
  }[],
  report: FieldReport,
): void {
  for (const { configMapRef, secretRef } of sources) {
    if (configMapRef === undefined && secretRef === undefined) {
      report.invalid("", "must give one of `configMapRef` or `secretRef`");
    } else if (configMapRef !== undefined && secretRef !== undefined) {
      report.invalid("", "may not have more than one field specified at a time");
    }
  }
}
