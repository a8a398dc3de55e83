import {
  jsonOf,
  getMember,
  isObject,
  setMember,
  type JsonObject,
  type JsonValue,
} from "../../base/json/value.ts";
import { objectAs } from "../../schema/api-object.ts";
import { StatusError } from "../../base/status-error.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { ApiObject, ViewSubresource } from "../../schema/kind.ts";
import { Scale } from "../../kinds/autoscaling/scale.ts";

/** The paths of the replica counts and the selector in a custom object. */
export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string | undefined;
}

/** The desired number in the view that a write starts from if the object has none; no valid number. */
const noReplicas = -(2 ** 31);

/** The subresource `scale` of a custom kind (spec: conventions 4.1). */
export function customScale(paths: ScalePaths): ViewSubresource {
  const specSteps = stepsOf(paths.specReplicasPath);
  const statusSteps = stepsOf(paths.statusReplicasPath);
  const selectorSteps = paths.labelSelectorPath === undefined ? undefined : stepsOf(paths.labelSelectorPath);
  const read = (object: ApiObject, defaultReplicas: number) => {
    const replicas = replicasAt(object, specSteps) ?? defaultReplicas;
    const selector = selectorSteps === undefined ? "" : selectorAt(object, selectorSteps);
    return {
      spec: replicas === 0 ? {} : { replicas },
      status: { replicas: replicasAt(object, statusSteps) ?? 0, ...(selector !== "" && { selector }) },
    };
  };
  return {
    shape: "view",
    verbs: ["get", "patch", "update"],
    kind: () => Scale,
    fields: [{ view: ["spec", "replicas"], object: specSteps }],
    read: (object) => read(object, 0),
    checkShown(object) {
      if (replicasAt(object, specSteps) !== undefined) return;
      throw new StatusError(
        "InternalError",
        `the object has no scale: it lacks the field ${paths.specReplicasPath} (specReplicasPath of its definition)`,
      );
    },
    basis: (object) => read(object, noReplicas),
    write(copy, view) {
      const replicas = objectAs<Scale>(view).spec?.replicas ?? 0;
      if (replicas === noReplicas) {
        const message = `spec.replicas is required: the object has no ${paths.specReplicasPath} yet`;
        throw new StatusError("BadRequest", message);
      }
      setAt(jsonOf(copy), specSteps, replicas);
    },
  };
}

const maxReplicas = 2 ** 31 - 1;

/** Reports replica counts and a selector that are not valid in `Scale`, at the paths of the definition. */
export function checkScale(object: ApiObject, paths: ScalePaths, report: FieldReport): void {
  for (const path of [paths.specReplicasPath, paths.statusReplicasPath]) {
    const value = memberAt(object, stepsOf(path));
    if (value === undefined) continue;
    const field = report.at(path);
    if (typeof value !== "number" || !Number.isInteger(value)) field.invalid(value, "should be an integer");
    else if (value < 0) field.invalid(value, "should be a non-negative integer");
    else if (value > maxReplicas) field.invalid(value, `should be less than or equal to ${maxReplicas}`);
  }
  const { labelSelectorPath } = paths;
  if (labelSelectorPath === undefined) return;
  const selector = memberAt(object, stepsOf(labelSelectorPath));
  if (selector === undefined || typeof selector === "string") return;
  report.at(labelSelectorPath).invalid(selector, "should be a label selector as a string");
}

/** The names of a simple path such as `.spec.replicas`. */
function stepsOf(path: string): string[] {
  return path.slice(1).split(".");
}

/** Returns the value at a path; undefined if a member of it is missing. */
export function valueAt(object: ApiObject, steps: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = jsonOf(object);
  for (const step of steps) value = isObject(value) ? getMember(value, step) : undefined;
  return value;
}

/** As {@link valueAt}; returns a value on the way that is neither an object nor null instead. */
function memberAt(object: ApiObject, steps: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = jsonOf(object);
  for (const step of steps) {
    if (value === undefined || value === null) return undefined;
    if (!isObject(value)) return value;
    value = getMember(value, step);
  }
  return value;
}

/** Returns a replica count; undefined if the object has none. @throws {StatusError} InternalError: it is no number. */
function replicasAt(object: ApiObject, steps: readonly string[]): number | undefined {
  const value = memberAt(object, steps);
  if (value === undefined || typeof value === "number") return value;
  throw new StatusError("InternalError", `the field .${steps.join(".")} of the object is not an integer`);
}

/** Returns the selector; empty if the object has none. @throws {StatusError} InternalError: it is no string. */
function selectorAt(object: ApiObject, steps: readonly string[]): string {
  const value = memberAt(object, steps);
  if (value === undefined || typeof value === "string") return value ?? "";
  throw new StatusError("InternalError", `the field .${steps.join(".")} of the object is not a string`);
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
