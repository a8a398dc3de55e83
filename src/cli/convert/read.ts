import { isObject, setMember, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import { checkFields } from "../../schema/check.ts";
import type { KindContext } from "../../schema/context.ts";
import { decode } from "../../schema/decode.ts";
import { fillFieldDefaults } from "../../schema/defaults.ts";
import { FieldReport } from "../../schema/faults.ts";
import type { ApiObject, Kind } from "../../schema/kind.ts";
import type { Note } from "./notes.ts";

/**
 * Decodes an object of the kind and returns its known fields in the order of the input. Unknown fields are dropped and reported.
 *
 * @throws {TypeFault} for a value of a wrong type.
 */
export function readByKind(kind: Kind, input: JsonObject, notes: Note[]): JsonObject {
  const { value, unknownFields, moreUnknownFields } = decode(kind.type, input);
  const text = `not carried: ${kind.name} has no such field in ${kind.version}`;
  for (const path of unknownFields) notes.push({ path, text, level: "done" });
  if (moreUnknownFields) {
    notes.push({ path: "", text: "not carried: and more unknown fields", level: "done" });
  }
  return onlyInput(value as JsonObject, input);
}

/** The members of the input that the decoder kept, without the empty members that it adds. */
function onlyInput(read: JsonObject, input: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const [name, member] of Object.entries(input)) {
    if (!Object.hasOwn(read, name) || member === null || member === undefined) continue;
    setMember(result, name, inputValue(read[name]!, member));
  }
  return result;
}

function inputValue(read: JsonValue, input: JsonValue): JsonValue {
  if (isObject(input)) return isObject(read) ? onlyInput(read, input) : read;
  if (Array.isArray(input)) {
    return Array.isArray(read) ? input.map((item, index) => inputValue(read[index]!, item)) : read;
  }
  // The input may spell a value differently, such as a quantity, but not with another type.
  return typeof input === typeof read ? input : read;
}

/** Fields that are set later: names and the status. */
const setLater = /^(metadata\.(name|namespace|generateName)$|status(\.|$))/;

/** Validation errors of the object, without those of fields that have notes already. */
export function checkByKind(
  kind: Kind,
  input: JsonObject,
  notes: readonly Note[],
  context: KindContext,
): Note[] {
  const copy = decode(kind.type, input).value as ApiObject;
  if (kind.scope === "Namespaced") copy.metadata.namespace ??= "default";
  // Kinds that can't be read, such as reviews, have no names.
  if (kind.verbs.includes("get")) copy.metadata.name ??= "name";
  fillFieldDefaults(kind.type, copy, context);
  kind.fillDefaults?.(copy, context);
  kind.prepareCreate?.(copy, context);
  const report = FieldReport.start();
  kind.validate?.(copy, report, context);
  kind.validateCreate?.(copy, report, context);
  checkFields(kind.type, copy, report, context);
  report.finishAtOnce();
  const reported = new Set(notes.filter(({ level }) => level === "unresolved").map(({ path }) => path));
  return report.faults
    .filter(({ field }) => !setLater.test(field) && !reported.has(field))
    .map(({ field, message }) => ({
      path: field,
      text: `cannot be converted: the new version rejects it: ${message}`,
      level: "unresolved",
    }));
}
