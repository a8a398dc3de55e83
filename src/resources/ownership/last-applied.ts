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

/** Objects can't be deeper, so no applied configuration is. */
const maxDepth = 1000;

/** The annotation in which a client keeps what it applied on the client side; undefined for every other client. */
function annotationOf({ vocabulary }: Engine, { fieldManager }: WriteOptions): string | undefined {
  const { clientSideApply: known } = vocabulary;
  return known?.manager === fieldManager ? known.annotation : undefined;
}

/**
 * The fields that a client which now uses server-side apply had applied on the client side before and that still have the
 * applied values: it may change them, even when other managers are recorded as their owners (spec: conventions 4.10).
 *
 * @param shown the live object, in the version of the target.
 * @returns none for other clients, and where what was applied can't be read or is of another version.
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
    // Anybody may write into an annotation; what isn't JSON was not left by the client.
    if (error instanceof SyntaxFault) return undefined;
    throw error;
  }
}

/**
 * Updates the annotation of a client that used client-side apply before, so that it can go back to it. An object without the
 * annotation gets none; one whose annotations would become too large loses it. Changes the object.
 *
 * @param applied what was applied, as the client wrote it.
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

/** The same value with the members of its objects by name: the same configuration is always the same text. */
function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const result: JsonObject = {};
  for (const name of Object.keys(value).toSorted()) setMember(result, name, sorted(value[name]!));
  return result;
}
