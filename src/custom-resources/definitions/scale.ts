import { getMember, isObject, setMember, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { ApiObject, ViewSubresource } from "../../schema/kind.ts";
import { Scale } from "../../kinds/autoscaling/scale.ts";

/** The paths of the replica counts and the selector in a custom object. */
export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string | undefined;
}

/** The subresource `scale` of a custom kind (spec: conventions 4.1). */
export function customScale(paths: ScalePaths): ViewSubresource {
  const specReplicas = stepsOf(paths.specReplicasPath);
  const statusReplicas = stepsOf(paths.statusReplicasPath);
  const selectorPath = paths.labelSelectorPath === undefined ? undefined : stepsOf(paths.labelSelectorPath);
  return {
    shape: "view",
    verbs: ["get", "patch", "update"],
    kind: () => Scale,
    fields: [{ view: ["spec", "replicas"], object: specReplicas }],
    read(object) {
      const replicas = numberAt(object, specReplicas);
      const selector = selectorPath === undefined ? undefined : valueAt(object, selectorPath);
      return {
        spec: replicas === 0 ? {} : { replicas },
        status: {
          replicas: numberAt(object, statusReplicas),
          ...(typeof selector === "string" && selector !== "" && { selector }),
        },
      };
    },
    write(copy, view) {
      const { spec } = view as unknown as Scale;
      setAt(copy as unknown as JsonObject, specReplicas, spec?.replicas ?? 0);
    },
  };
}

const maxReplicas = 2 ** 31 - 1;

/** Reports replica counts that are not valid in `Scale`, at the paths of the definition. */
export function checkReplicas(object: ApiObject, paths: ScalePaths, report: FieldReport): void {
  for (const path of [paths.specReplicasPath, paths.statusReplicasPath]) {
    const value = valueAt(object, stepsOf(path));
    if (value === undefined) continue;
    const field = report.at(path);
    if (typeof value !== "number" || !Number.isInteger(value)) field.invalid(value, "should be an integer");
    else if (value < 0) field.invalid(value, "should be a non-negative integer");
    else if (value > maxReplicas) field.invalid(value, `should be less than or equal to ${maxReplicas}`);
  }
}

/** The names of a simple path such as `.spec.replicas`. */
function stepsOf(path: string): string[] {
  return path.slice(1).split(".");
}

/** Returns the value at a path; undefined if a member of it is missing. */
export function valueAt(object: ApiObject, steps: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = object as unknown as JsonObject;
  for (const step of steps) value = isObject(value) ? getMember(value, step) : undefined;
  return value;
}

function numberAt(object: ApiObject, steps: readonly string[]): number {
  const value = valueAt(object, steps);
  return typeof value === "number" ? value : 0;
}

/** Sets a value at a path of an object; creates missing objects of the path. */
function setAt(object: JsonObject, steps: readonly string[], value: JsonValue): void {
  let at = object;
  for (const step of steps.slice(0, -1)) {
    let below = getMember(at, step);
    if (!isObject(below)) setMember(at, step, (below = {}));
    at = below;
  }
  setMember(at, steps.at(-1)!, value);
}
