import { encodeJson } from "../../base/json/encode.ts";
import { decodeExactly } from "../../base/json/exact.ts";
import { SyntaxFault } from "../../base/json/syntax-fault.ts";
import { isObject, setMember, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import { compareTyped } from "../../fields/apply/compare.ts";
import { FieldSet } from "../../fields/apply/field-set.ts";
import { readSet } from "../../fields/apply/read-set.ts";
import { shapeOfStruct } from "../../fields/apply/shape.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Engine, Target, WriteOptions } from "../engine/engine.ts";
import { maxAnnotationBytes } from "../../schema/object-meta-rules.ts";

/** Maximum depth of objects. */
const maxDepth = 1000;

/** The annotation with the last configuration of a client that supports client-side apply; undefined for other clients. */
function annotationOf({ vocabulary }: Engine, { fieldManager }: WriteOptions): string | undefined {
  const { clientSideApply } = vocabulary;
  return clientSideApply?.manager === fieldManager ? clientSideApply.annotation : undefined;
}

/**
 * The fields that a client set by client-side apply and that still have the applied values. When it changes to server-side apply, it may
 * change them although other managers are recorded as their owners (spec: conventions 4.10).
 *
 * @param shown the live object, in the version of the target.
 * @returns none for other clients, and if the annotation can't be read or has another version.
 */
export function fieldsLastApplied(
  engine: Engine,
  { resource }: Target,
  shown: Partial<ApiObject>,
  options: WriteOptions,
): FieldSet {
  const annotation = annotationOf(engine, options);
  const text = annotation === undefined ? undefined : shown.metadata?.annotations?.[annotation];
  const applied = text === undefined ? undefined : read(text);
  if (applied?.["apiVersion"] !== resource.apiVersion) return FieldSet.empty;
  const shape = shapeOfStruct(resource.kind.type);
  const { modified, removed } = compareTyped(applied, shown, shape);
  return readSet(applied, shape, "lenient").difference(modified).difference(removed);
}

function read(text: string): JsonObject | undefined {
  try {
    const { value } = decodeExactly(text, maxDepth);
    return isObject(value) ? value : undefined;
  } catch (error) {
    // Any user can write the annotation; if it isn't JSON, the client did not write it.
    if (error instanceof SyntaxFault) return undefined;
    throw error;
  }
}

/**
 * Updates the annotation of client-side apply with the applied configuration, so that the client can return to client-side apply. Doesn't
 * add the annotation; removes it if the annotations would become too large. Changes the object.
 *
 * @param applied the configuration as sent.
 */
export function keepLastApplied(
  engine: Engine,
  object: ApiObject,
  applied: JsonValue,
  options: WriteOptions,
): void {
  const annotation = annotationOf(engine, options);
  const { annotations } = object.metadata;
  if (annotation === undefined || annotations === undefined || (annotations[annotation] ?? "") === "") return;
  annotations[annotation] = `${encodeJson(sorted(withoutAnnotation(applied, annotation)))}\n`;
  const sizes = Object.entries(annotations).map(([name, value]) => Buffer.byteLength(name + value));
  if (sizes.reduce((sum, size) => sum + size, 0) > maxAnnotationBytes) delete annotations[annotation];
}

function withoutAnnotation(applied: JsonValue, annotation: string): JsonValue {
  const metadata = isObject(applied) ? applied["metadata"] : undefined;
  const annotations = isObject(metadata) ? metadata["annotations"] : undefined;
  if (!isObject(applied) || !isObject(metadata) || !isObject(annotations)) return applied;
  const { [annotation]: _own, ...others } = annotations;
  return { ...applied, metadata: { ...metadata, annotations: others } };
}

/** The value with the members of objects sorted by name, so that equal configurations give equal texts. */
function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const result: JsonObject = {};
  for (const name of Object.keys(value).toSorted()) setMember(result, name, sorted(value[name]!));
  return result;
}
