import { jsonOf, isObject, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { doSteps, type Steps, runPaced } from "../../base/turns/work-pace.ts";
import { StatusError } from "../../base/status-error.ts";
import type { JsonDocument } from "../../base/json/exact.ts";
import { applyJsonPatch } from "../../fields/json-patch.ts";
import { applyMergePatch } from "../../fields/merge-patch.ts";
import { PatchFault } from "../../fields/patch-fault.ts";
import { applyStrategicMergePatch } from "../../fields/strategic-merge.ts";
import type { ApiObject } from "../../schema/kind.ts";
import {
  detailsOf,
  type Engine,
  type Target,
  type WriteOptions,
  type WriteResult,
} from "../engine/engine.ts";
import {
  readSteps,
  addWarnings,
  UnreadableObject,
  type FieldValidation,
  type Input,
  inRequestVersion,
  writeContext,
} from "../input/input.ts";
import { withManagedFields, type LiveObject } from "../objects/live-object.ts";
import { matchNamespace } from "../input/metadata.ts";
import { guaranteedUpdate, type UpdatedObject } from "./guaranteed-update.ts";

/** Patch types (spec: conventions 4.7). */
export type PatchKind = "json" | "merge" | "strategic";

export interface PatchOptions extends WriteOptions {
  readonly fieldValidation: FieldValidation;
}

/**
 * Patches an object.
 *
 * @throws {StatusError} BadRequest for a malformed patch; Invalid if it can't be applied to the object; otherwise as an update.
 */
export async function patchObject(
  engine: Engine,
  target: Target,
  kind: PatchKind,
  patch: JsonDocument,
  options: PatchOptions,
): Promise<WriteResult> {
  const context = writeContext(engine, target, options);
  const change = (stored: LiveObject): MaybePromise<UpdatedObject> =>
    runPaced(changeSteps(stored), options.pace);
  const changeSteps = function* (stored: LiveObject): Steps<UpdatedObject> {
    const { object: live } = stored;
    const whole = touchesOwnership(kind, patch.value) ? withManagedFields(stored) : live;
    const object = inRequestVersion(context, whole);
    const input = yield* patchSteps(engine, target, kind, patch, object, options);
    addWarnings(options.report, input.warnings);
    const { metadata } = input.object;
    if (metadata.resourceVersion === live.metadata.resourceVersion) delete metadata.resourceVersion;
    checkIdentity(target, input.object, live);
    return { object: input.object };
  };
  return guaranteedUpdate(context, change);
}

/**
 * Applies a patch and decodes the result like a request body.
 *
 * @throws {StatusError} Invalid, with a cause on `patch`, if the result can't be decoded (a number in place of a map, another kind);
 *   otherwise as `applyPatch` and `readObject`.
 */
export function readPatched(
  engine: Engine,
  target: Target,
  kind: PatchKind,
  patch: JsonDocument,
  object: ApiObject,
  options: PatchOptions,
): Input {
  return doSteps(patchSteps(engine, target, kind, patch, object, options));
}

/** As {@link readPatched}, in several steps. */
function* patchSteps(
  engine: Engine,
  target: Target,
  kind: PatchKind,
  patch: JsonDocument,
  object: ApiObject,
  { fieldValidation }: PatchOptions,
): Steps<Input> {
  const result = applyPatch(target, kind, object, patch.value);
  // As in the reference, a strategic merge patch can't change apiVersion and kind.
  const patched = kind === "strategic" ? withTypeOf(object, result) : result;
  yield;
  try {
    return yield* readSteps(engine, target, patched, patch.duplicates, fieldValidation);
  } catch (error) {
    if (!(error instanceof UnreadableObject)) throw error;
    const { message } = error;
    throw new StatusError("Invalid", `patch: Invalid value: ${message}`, {
      causes: [{ reason: "FieldValueInvalid", message: `Invalid value: ${message}`, field: "patch" }],
    });
  }
}

function withTypeOf({ kind, apiVersion }: ApiObject, result: unknown): unknown {
  return isObject(result as JsonValue) ? { ...(result as JsonObject), kind, apiVersion } : result;
}

/** Whether a patch may read or change managed fields; other patches don't need them. */
function touchesOwnership(kind: PatchKind, patch: JsonValue): boolean {
  if (kind === "json") {
    const reaches = (path: unknown) =>
      typeof path === "string" && (path === "" || path === "/metadata" || path.startsWith(ownershipPath));
    return (
      Array.isArray(patch) &&
      patch.some((one) => isObject(one) && (reaches(one["path"]) || reaches(one["from"])))
    );
  }
  const metadata = isObject(patch) ? patch["metadata"] : undefined;
  return isObject(metadata) && Object.hasOwn(metadata, "managedFields");
}

const ownershipPath = "/metadata/managedFields";

function applyPatch(target: Target, kind: PatchKind, live: ApiObject, patch: JsonValue): unknown {
  const value = jsonOf(live);
  try {
    switch (kind) {
      case "json":
        return applyJsonPatch(value, patch);
      case "merge":
        return applyMergePatch(value, patch);
      case "strategic":
        return applyStrategicMergePatch(target.resource.kind.type, value, patch);
    }
  } catch (error) {
    if (!(error instanceof PatchFault)) throw error;
    const details = {
      ...detailsOf(target),
      causes: [{ reason: "" as const, message: error.message, field: "" }],
    };
    throw error.malformed
      ? new StatusError("BadRequest", `the patch is not valid: ${error.message}`)
      : new StatusError("Invalid", `the patch can't be applied: ${error.message}`, details);
  }
}

/** Rejects a patch that changes the name or namespace; drops the namespace of a cluster-scoped object. */
function checkIdentity(target: Target, object: ApiObject, live: ApiObject): void {
  if (object.metadata.name !== live.metadata.name) {
    throw new StatusError(
      "BadRequest",
      `the name of the object (${object.metadata.name ?? ""}) does not match the name on the URL (${target.name})`,
    );
  }
  matchNamespace(target, object.metadata);
}
