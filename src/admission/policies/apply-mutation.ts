import { isObject, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import { StatusError } from "../../base/status-error.ts";
import type { YieldIfDue } from "../../base/turns/yielding.ts";
import { ConstructedObject } from "../../cel/values/collections.ts";
import { CelList, type Value } from "../../cel/values/values.ts";
import { JsonFault, jsonOfValue, typeNameFault } from "../../cel/values/json-of-value.ts";
import { atomicPaths, mergeConfiguration } from "../../fields/apply/merge-configuration.ts";
import { PartsFault } from "../../fields/apply/parts.ts";
import { shapeOfStruct } from "../../fields/apply/shape.ts";
import { applyJsonPatch } from "../../fields/json-patch.ts";
import { FailedTest, PatchFault } from "../../fields/patch-fault.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import { decode, TypeFault } from "../../schema/decode.ts";
import type { ReviewObjects } from "../webhooks/review-objects.ts";
import type { Mutation } from "./mutating-policy.ts";
import { MutationFailure } from "./mutation-failure.ts";

/**
 * Applies the result of a mutation to the object of the request.
 *
 * @param resource the version in which the policy matches.
 * @param value the value of the expression.
 * @returns whether the object has changed.
 * @throws {MutationFailure} the result can't be applied; the object is unchanged.
 * @throws {StatusError} the changed object isn't one of its kind.
 * @throws {ObjectTooLarge} the changed object is larger than the store accepts.
 */
export async function applyMutation(
  type: Mutation["type"],
  objects: ReviewObjects,
  resource: Resource,
  value: Value,
  yieldIfDue: YieldIfDue,
): Promise<boolean> {
  try {
    const object = (await objects.copy(resource)) as unknown as JsonObject;
    await yieldIfDue();
    const patched =
      type === "JSONPatch"
        ? patchedObject(object, value, objects.typeIn(resource))
        : mergedObject(object, value, objects.typeIn(resource));
    await yieldIfDue();
    return await objects.replace(resource, patched);
  } catch (error) {
    if (error instanceof FailedTest) return false;
    if (error instanceof PatchFault) throw new MutationFailure(`JSON Patch: ${error.message}`);
    if (error instanceof PartsFault) throw new MutationFailure(`${untyped}: ${error.message}`);
    if (error instanceof JsonFault || error instanceof TypeFault) throw new MutationFailure(error.message);
    throw error;
  }
}

/** Begins the messages about configurations that don't have the type of the object. */
const untyped = "error applying patch: failed to convert patch object to typed object";

/** @throws {MutationFailure} the configuration has unknown fields, atomic parts or wrong types. */
function mergedObject(live: JsonObject, value: Value, { kind, apiVersion }: Resource): JsonValue {
  const configuration = jsonOfValue(value) as JsonObject;
  const typeFault = typeNameFault(value, "Object");
  if (typeFault !== undefined) throw new MutationFailure(`type mismatch: ${typeFault}`);
  const applied = { ...configuration, kind: kind.name, apiVersion };
  assertTyped(applied, kind);
  const shape = shapeOfStruct(kind.type);
  const atomics = atomicPaths(applied, shape);
  if (atomics.length > 0) {
    const why = `may not mutate atomic arrays, maps or structs: ${atomics.join(", ")}`;
    throw new MutationFailure(`error applying patch: invalid ApplyConfiguration: ${why}`);
  }
  return mergeConfiguration(live, applied, shape) as JsonValue;
}

function assertTyped(applied: JsonObject, { type }: Resource["kind"]): void {
  const nullPath = pathOfNull(applied, "");
  if (nullPath !== undefined) throw new MutationFailure(`${untyped}: ${nullPath}: null can't be applied`);
  let unknownFields: readonly string[];
  try {
    ({ unknownFields } = decode(type, applied));
  } catch (error) {
    if (!(error instanceof TypeFault)) throw error;
    throw new MutationFailure(`${untyped}: ${error.message}`);
  }
  const [unknown] = unknownFields;
  if (unknown !== undefined)
    throw new MutationFailure(`${untyped}: .${unknown}: field not declared in schema`);
}

/** Returns the path of the first null; the size of the configuration is limited. */
function pathOfNull(value: JsonValue, path: string): string | undefined {
  if (value === null) return path;
  if (typeof value !== "object") return undefined;
  for (const [name, member] of Object.entries(value)) {
    const step = Array.isArray(value) ? `[${name}]` : `.${name}`;
    const nullPath = pathOfNull(member as JsonValue, path + step);
    if (nullPath !== undefined) return nullPath;
  }
  return undefined;
}

/**
 * @throws {PatchFault} the patch can't be applied.
 * @throws {StatusError} InternalError, as in the reference: the patched object has unknown fields.
 */
function patchedObject(live: JsonObject, value: Value, { kind }: Resource): JsonValue {
  const patched = applyJsonPatch(live, operationsOf(value));
  if (!isObject(patched)) throw internalError("the patched object is not an object");
  try {
    const [unknown] = decode(kind.type, patched).unknownFields;
    if (unknown === undefined || isCustom(kind)) return patched;
    throw internalError(`strict decoding error: unknown field ${JSON.stringify(unknown)}`);
  } catch (error) {
    if (!(error instanceof TypeFault)) throw error;
    throw internalError(error.message);
  }
}

function internalError(why: string): StatusError {
  return new StatusError("InternalError", `Internal error occurred: ${why}`);
}

/** Whether a kind has objects of which the server prunes unknown fields, so that they are no errors. */
function isCustom({ type }: { readonly type: { readonly open?: unknown } }): boolean {
  return type.open !== undefined;
}

/** Returns the operations of a JSON patch; members that an operation doesn't need are left out. */
function operationsOf(value: Value): JsonValue[] {
  if (!(value instanceof CelList)) throw new JsonFault("the expression must yield a list of JSONPatch");
  const operations = jsonOfValue(value) as JsonObject[];
  for (const [index, operation] of operations.entries()) {
    if (operation["from"] === "") delete operation["from"];
    const fault = operationFault(value.get(index));
    if (fault !== undefined) throw new MutationFailure(`type mismatch: ${fault}`);
  }
  return operations;
}

/** The value of an operation may have a constructed object, whose parts must have the types of their fields. */
function operationFault(operation: Value): string | undefined {
  if (!(operation instanceof ConstructedObject)) return undefined;
  const value = operation.fields.get("value");
  return value instanceof ConstructedObject ? typeNameFault(value, value.type.name) : undefined;
}
