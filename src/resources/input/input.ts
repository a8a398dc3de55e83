import { doSteps, type Steps } from "../../base/turns/work-pace.ts";
import { StatusError } from "../../base/status-error.ts";
import { decode, decodePart, type Decoded, TypeFault } from "../../schema/decode.ts";
import { fillFieldDefaults } from "../../schema/defaults.ts";
import type { KindContext } from "../../schema/context.ts";
import { FieldReport, invalidError } from "../../schema/faults.ts";
import type { ApiObject, Kind } from "../../schema/kind.ts";
import { groupHint, vocabularyNaming } from "../../vocabulary/other-vocabulary.ts";
import {
  kindContext,
  type InputEngine,
  type RequestReport,
  type Target,
  type Engine,
  type WriteOptions,
} from "../engine/engine.ts";
import { toStored, engineInVersion, fromStored } from "../engine/conversion.ts";
import type { Resource } from "../registry/registry.ts";
import { deepClone } from "../../base/json/value.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { Conversions } from "../registry/versioned-storage.ts";

export type FieldValidation = "Ignore" | "Warn" | "Strict";

/** A value that can't be decoded as the kind: it has another kind or a wrong type, such as a number in place of a map. */
export class UnreadableObject extends StatusError {
  override name = "UnreadableObject";
}

/** A decoded request object with its defaults, in the stored version. */
export interface Input {
  readonly object: ApiObject;
  readonly warnings: readonly string[];
}

/**
 * Decodes an object of the kind (spec: conventions 4.8). Types are always checked; unknown and duplicate fields are dropped, reported
 * as warnings or rejected.
 *
 * @param value the parsed body; it isn't changed.
 * @param duplicates paths of duplicate members.
 * @throws {StatusError} BadRequest for wrong types (an {@link UnreadableObject}), another kind or version, and (Strict)
 *   unknown fields.
 */
export function readObject(
  engine: InputEngine,
  target: Target,
  value: unknown,
  duplicates: readonly string[],
  requested: FieldValidation,
): Input {
  return doSteps(readSteps(engine, target, value, duplicates, requested));
}

/** As {@link readObject}, in several steps. */
export function* readSteps(
  engine: InputEngine,
  target: Target,
  value: unknown,
  duplicates: readonly string[],
  requested: FieldValidation,
): Steps<Input> {
  const validation = effectiveValidation(engine, requested);
  const { object, decoded } = decodeAs(target, value, decode);
  yield;
  const faults = fieldFaults(duplicates, decoded);
  refuseStrictly(target, faults, validation);
  if (target.namespace !== "" && (object.metadata.namespace ?? "") === "") {
    object.metadata.namespace = target.namespace;
  }
  return {
    object: complete(target.resource, object, kindContext(engine, target)),
    warnings: validation === "Warn" ? faults : [],
  };
}

/** Fills in the defaults of the request version, converts to the stored version and fills in its defaults. */
export function complete(resource: Resource, object: ApiObject, context: KindContext): ApiObject {
  fillDefaults(resource.kind, object, context);
  if (resource.kind.conversion === undefined) return object;
  const stored = toStored(resource, object, context);
  fillDefaults(resource.stored.kind, stored, context);
  return stored;
}

/** Fills in the defaults of a kind. Changes the object. */
function fillDefaults(kind: Kind, object: ApiObject, context: KindContext): void {
  fillFieldDefaults(kind.type, object, context);
  kind.fillDefaults?.(object, context);
}

/** The effective validation mode: `Ignore` if the feature gate is off. */
function effectiveValidation(engine: InputEngine, requested: FieldValidation): FieldValidation {
  return engine.featureEnabled("ServerSideFieldValidation") ? requested : "Ignore";
}

/**
 * Decodes an applied configuration, which has only the fields that were sent, in the version of the target.
 *
 * @throws as {@link readObject}.
 */
export function readPart(
  target: Target,
  value: unknown,
  duplicates: readonly string[],
  validation: FieldValidation,
): { readonly part: Partial<ApiObject>; readonly warnings: readonly string[] } {
  const { object, decoded } = decodeAs(target, value, decodePart);
  const faults = fieldFaults(duplicates, decoded);
  refuseStrictly(target, faults, validation);
  return { part: object, warnings: validation === "Warn" ? faults : [] };
}

function refuseStrictly({ resource }: Target, faults: readonly string[], validation: FieldValidation): void {
  if (validation !== "Strict" || faults.length === 0) return;
  const kind = resource.kind.name;
  throw new StatusError(
    "BadRequest",
    `${kind} in version ${JSON.stringify(resource.version)} cannot be handled as a ${kind}: ` +
      `strict decoding error: ${faults.join(", ")}`,
  );
}

/** Reports warnings about dropped fields at once, so that a failed request has them too. */
export function addWarnings(report: RequestReport | undefined, warnings: readonly string[]): void {
  for (const warning of warnings) report?.warn(warning);
}

export function fieldFaults(duplicates: readonly string[], decoded: Omit<Decoded, "value">): string[] {
  const faults = [
    ...duplicates.map((path) => `duplicate field ${JSON.stringify(path)}`),
    ...decoded.unknownFields.map((path) => `unknown field ${JSON.stringify(path)}`),
  ];
  if (decoded.moreUnknownFields) faults.push("and more unknown fields");
  return faults;
}

function decodeAs(
  target: Target,
  value: unknown,
  read: typeof decode,
): { object: ApiObject; decoded: Decoded } {
  const { resource } = target;
  checkTypeMeta(target, value);
  try {
    const decoded = read(resource.kind.type, value);
    const object = decoded.value as ApiObject;
    object.kind = resource.kind.name;
    object.apiVersion = resource.apiVersion;
    const { metadata } = object as Partial<ApiObject>;
    // "0" matches any version (rulings: resourceVersion "0" in a write).
    if (metadata?.resourceVersion === "0") delete metadata.resourceVersion;
    return { object, decoded };
  } catch (error) {
    if (!(error instanceof TypeFault)) throw error;
    const kind = resource.kind.name;
    throw new UnreadableObject(
      "BadRequest",
      `${kind} in version ${JSON.stringify(resource.version)} cannot be handled as a ${kind}: ${error.message}`,
    );
  }
}

/** The error of a custom object with another kind than that of the path. */
function wrongKind(value: object, kind: string, { group, kind: { name: wanted } }: Resource): StatusError {
  const report = FieldReport.start();
  report.at("kind").invalid(kind, `must be ${wanted}`);
  const { metadata } = value as { metadata?: { name?: unknown } | null };
  const name = typeof metadata?.name === "string" ? metadata.name : "";
  return invalidError({ kind, group, name }, report.faults);
}

/** Rejects a body with another kind or version than the path; both may be omitted. */
function checkTypeMeta(target: Target, value: unknown): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return;
  const { kind, apiVersion } = value as { kind?: unknown; apiVersion?: unknown };
  const { resource } = target;
  if (typeof apiVersion === "string" && apiVersion !== "" && apiVersion !== resource.apiVersion) {
    throw new UnreadableObject(
      "BadRequest",
      `the API version in the data (${apiVersion}) does not match the expected API version (${resource.apiVersion})` +
        groupHint(
          apiVersion.slice(0, Math.max(0, apiVersion.indexOf("/"))),
          vocabularyNaming(resource.group),
        ),
    );
  }
  if (typeof kind === "string" && kind !== "" && kind !== resource.kind.name) {
    if (resource.kind.custom !== undefined) throw wrongKind(value, kind, resource);
    throw new UnreadableObject(
      "BadRequest",
      `the kind in the data (${kind}) does not match the expected kind (${resource.kind.name})`,
    );
  }
}

/** The context of one write, created at the start of a verb, which works with the stored version only. */
export interface WriteContext<O extends WriteOptions = WriteOptions> {
  readonly engine: Engine;
  /** The object or collection in its stored version (spec: conventions 9). */
  readonly target: Target;
  /** The same in the version of the request; identical to `target` if that is the stored version. */
  readonly requestTarget: Target;
  readonly options: O;
  /** Conversions of the objects of this write; undefined unless a webhook converts its resource type. */
  readonly conversions: Conversions | undefined;
}

/** @param requestTarget the object or collection in the version of the request. */
export function writeContext<O extends WriteOptions>(
  engine: Engine,
  requestTarget: Target,
  options: O,
): WriteContext<O> {
  const { resource } = requestTarget;
  const { stored } = resource;
  const target = stored === resource ? requestTarget : storedTarget(requestTarget);
  const conversions = resource.storage?.newConversions?.();
  return { engine: engineInVersion(engine, resource), target, requestTarget, options, conversions };
}

/** Must be awaited between two steps of a write unless undefined; see {@link WorkPace.step}. */
export function nextStep({ options: { pace } }: WriteContext): MaybePromise<void> {
  return pace?.step();
}

function storedTarget(requestTarget: Target): Target {
  const { group, stored } = requestTarget.resource;
  const elsewhere = group === stored.group ? {} : { requestGroup: group };
  return { ...requestTarget, resource: stored, ...elsewhere };
}

/** Converts a stored object to the version of the request; returns the object itself if that is the stored version. */
export function inRequestVersion(write: WriteContext, object: ApiObject): ApiObject {
  const { engine, target, requestTarget } = write;
  if (requestTarget === target) return object;
  return fromStored(requestTarget.resource, deepClone(object), kindContext(engine, target));
}
