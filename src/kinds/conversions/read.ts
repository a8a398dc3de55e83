import { isObject, setMember, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import { checkFields } from "../../schema/check.ts";
import type { KindContext } from "../../schema/context.ts";
import { decode } from "../../schema/decode.ts";
import { fillFieldDefaults } from "../../schema/defaults.ts";
import { FieldReport } from "../../schema/faults.ts";
import type { ApiObject, Kind } from "../../schema/kind.ts";
import type { Note } from "./notes.ts";

/**
 * Reads an object by its kind's declaration and gives what the kind has a place for, in the order in which it was given. What
 * it has no place for is told.
 *
 * @throws {TypeFault} for a value of a wrong type.
 */
export function readByKind(kind: Kind, given: JsonObject, notes: Note[]): JsonObject {
  const { value, unknownFields, moreUnknownFields } = decode(kind.type, given);
  const text = `not carried: ${kind.name} has no such field in ${kind.version}`;
  for (const path of unknownFields) notes.push({ path, text, level: "done" });
  if (moreUnknownFields) {
    notes.push({ path: "", text: "not carried: and more unknown fields", level: "done" });
  }
  return onlyGiven(value as JsonObject, given);
}

/** What was given, as far as it was read; the reader's empty members aren't added. */
function onlyGiven(read: JsonObject, given: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const [name, member] of Object.entries(given)) {
    if (!Object.hasOwn(read, name) || member === null || member === undefined) continue;
    setMember(result, name, kept(read[name]!, member));
  }
  return result;
}

function kept(read: JsonValue, given: JsonValue): JsonValue {
  if (isObject(given)) return isObject(read) ? onlyGiven(read, given) : read;
  if (Array.isArray(given)) {
    return Array.isArray(read) ? given.map((item, index) => kept(read[index]!, item)) : read;
  }
  // A text may be another spelling of what was read, but a number isn't one of a text.
  return typeof given === typeof read ? given : read;
}

/** Metadata that is only known when the object is written, and the status, which is the server's. */
const knownLater = /^(metadata\.(name|namespace|generateName)$|status(\.|$))/;

/** Why a server wouldn't take the object, beyond what was said of the same fields already. */
export function checkByKind(
  kind: Kind,
  given: JsonObject,
  notes: readonly Note[],
  context: KindContext,
): Note[] {
  const copy = decode(kind.type, given).value as ApiObject;
  if (kind.scope === "Namespaced") copy.metadata.namespace ??= "default";
  // What can't be read again, such as a review, has no name.
  if (kind.verbs.includes("get")) copy.metadata.name ??= "name";
  fillFieldDefaults(kind.type, copy, context);
  kind.fillDefaults?.(copy, context);
  kind.prepareCreate?.(copy, context);
  const report = FieldReport.start();
  kind.validate?.(copy, report, context);
  kind.validateCreate?.(copy, report, context);
  checkFields(kind.type, copy, report, context);
  const said = new Set(notes.filter(({ level }) => level === "unresolved").map(({ path }) => path));
  return report.faults
    .filter(({ field }) => !knownLater.test(field) && !said.has(field))
    .map(({ field, message }) => ({
      path: field,
      text: `cannot be converted: the new version refuses it: ${message}`,
      level: "unresolved",
    }));
}
