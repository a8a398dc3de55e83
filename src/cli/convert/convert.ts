import { objectAs } from "../../schema/api-object.ts";
import { defaultRelease } from "../../base/releases.ts";
import { deepClone, isObject, type JsonObject, type JsonValue, setMember } from "../../base/json/value.ts";
import type { KindContext } from "../../schema/context.ts";
import { TypeFault, decode } from "../../schema/decode.ts";
import type { ApiObject, Kind } from "../../schema/kind.ts";
import { kindInVocabulary } from "../../schema/kind-in-vocabulary.ts";
import type { GroupVersion } from "../../schema/types.ts";
import { kubernetes } from "../../vocabulary/kubernetes.ts";
import { platform } from "../../vocabulary/platform.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { lifeCycleOf } from "../../kinds/life-cycles.ts";
import { podSecurityPolicy } from "./policy.ts";
import {
  apiVersionOf,
  currentGroupVersion,
  declaredKind,
  groupVersionOf,
  mayExist,
  findSteps,
  type Step,
} from "./registry.ts";
import { Part, type Note } from "./notes.ts";
import { checkFields } from "../../schema/check.ts";
import { fillFieldDefaults } from "../../schema/defaults.ts";
import { FieldReport } from "../../schema/faults.ts";

/** The result of a conversion. */
export interface Converted {
  /** The converted object; the input if it is unchanged. */
  readonly object: JsonObject;
  readonly outcome: "unchanged" | "converted" | "failed";
  /** Why it is unchanged; otherwise what was written out, dropped, or must be decided. */
  readonly notes: readonly Note[];
}

const release = defaultRelease;

/**
 * Converts an object; the input isn't modified.
 *
 * @param target the version to convert to; objects of other groups are unchanged. Undefined for the current version
 * of each kind.
 */
export function convertObject(
  input: JsonObject,
  target: GroupVersion | undefined,
  context: KindContext,
): Converted {
  const { vocabulary } = context;
  const { apiVersion, kind } = input;
  if (typeof apiVersion !== "string" || typeof kind !== "string" || apiVersion === "" || kind === "") {
    return failed(input, "apiVersion and kind are required");
  }
  const groupVersion = groupVersionOf(apiVersion, vocabulary);
  if (groupVersion === undefined) return ofOtherGroup(input, apiVersion, vocabulary);
  const name = apiVersionOf(groupVersion, vocabulary);
  const targetVersion = target ?? currentGroupVersion(groupVersion, kind, release);
  const gone =
    target === undefined || isSame(groupVersion, targetVersion)
      ? whyGone(targetVersion, kind, vocabulary)
      : undefined;
  if (gone !== undefined) return failed(input, gone);
  if (isSame(groupVersion, targetVersion)) return unchanged(input, `it is of ${name} already`);
  const way = findSteps(groupVersion, targetVersion, kind);
  if (way !== undefined) return convertAlong(input, way, context);
  if (groupVersion.group.base !== targetVersion.group.base) {
    return unchanged(input, `${name} ${kind} is no kind of ${apiVersionOf(targetVersion, vocabulary)}`);
  }
  return failed(
    input,
    whyGone(groupVersion, kind, vocabulary) ??
      `no conversion leads to ${apiVersionOf(targetVersion, vocabulary)}`,
  );
}

function isSame(one: GroupVersion, other: GroupVersion): boolean {
  return one.group.base === other.group.base && one.version === other.version;
}

function unchanged(object: JsonObject, text: string): Converted {
  return { object, outcome: "unchanged", notes: [{ path: "", text, level: "unchanged" }] };
}

function failed(object: JsonObject, problem: string): Converted {
  const text = `cannot be converted: ${problem}`;
  return { object, outcome: "failed", notes: [{ path: "", text, level: "unresolved" }] };
}

/** Returns the reason why a removed kind has no current version; undefined for other kinds. */
function whyGone(groupVersion: GroupVersion, kind: string, vocabulary: Vocabulary): string | undefined {
  if (declaredKind(groupVersion, kind) !== undefined) return undefined;
  const name = apiVersionOf(groupVersion, vocabulary);
  const removed = lifeCycleOf(groupVersion.group, groupVersion.version, kind)?.removed;
  if (removed !== undefined) {
    const advice = kind === podSecurityPolicy.kind ? `; ${podSecurityPolicy.advice}` : "";
    return `${name} ${kind} was removed in release ${removed}, and nothing replaces it${advice}`;
  }
  return mayExist(groupVersion, kind) ? undefined : `${name} never had a kind ${kind}`;
}

/** Returns custom kinds unchanged; a built-in group of the other vocabulary is an error. */
function ofOtherGroup(input: JsonObject, apiVersion: string, vocabulary: Vocabulary): Converted {
  const other = [platform, kubernetes].find((one) => one.name !== vocabulary.name);
  if (other === undefined || groupVersionOf(apiVersion, other) === undefined) {
    return unchanged(input, `${apiVersion} is of no built-in group`);
  }
  return failed(
    input,
    `${apiVersion} is a name of the ${other.name} vocabulary; use --vocabulary=${other.name}`,
  );
}

function convertAlong(input: JsonObject, way: readonly Step[], context: KindContext): Converted {
  const notes: Note[] = [];
  const kindName = input["kind"] as string;
  try {
    let object = deepClone(input);
    for (const step of way) {
      object = applyStep(step, object, notes, context);
      object["apiVersion"] = apiVersionOf(step.to, context.vocabulary);
    }
    const declared = declaredKind(way.at(-1)!.to, kindName);
    if (declared !== undefined) {
      const kind = kindInVocabulary(declared, context.vocabulary);
      object = readByKind(kind, object, notes);
      notes.push(...checkByKind(kind, object, notes, context));
    } else {
      const text = whyGone(way.at(-1)!.to, kindName, context.vocabulary) ?? "";
      notes.push({ path: "", text, level: "done" });
    }
    return { object: inOrder(object), outcome: "converted", notes };
  } catch (error) {
    if (!(error instanceof TypeFault)) throw error;
    const text = `cannot be converted: ${error.problem}`;
    return { object: input, outcome: "failed", notes: [{ path: error.path, text, level: "unresolved" }] };
  }
}

function applyStep(step: Step, object: JsonObject, notes: Note[], context: KindContext): JsonObject {
  if ("rules" in step) {
    const whole = new Part(object, "", context.vocabulary, notes);
    for (const rule of step.rules) rule(whole);
    return object;
  }
  const { kind, source, by } = step;
  const read = readByKind(source, object, notes);
  const inputNames = new Set(Object.keys(read));
  const result = kind.conversion![by](objectAs<ApiObject>({ metadata: {}, ...read }), context);
  result.kind = kind.name;
  const members = Object.entries(withoutAbsent(result as JsonObject) as JsonObject);
  // Empty members that the conversion adds, such as a status, are dropped.
  const relevant = members.filter(([name, value]) => inputNames.has(name) || !isEmpty(value));
  return Object.fromEntries(relevant);
}

function isEmpty(value: JsonValue): boolean {
  return isObject(value) && Object.values(value).every(isEmpty);
}

/** Removes members whose value is undefined. */
function withoutAbsent(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutAbsent);
  if (!isObject(value)) return value;
  const members = Object.entries(value as Record<string, JsonValue | undefined>).flatMap(([name, member]) =>
    member === undefined ? [] : [[name, withoutAbsent(member)] as const],
  );
  return Object.fromEntries(members);
}

/** Puts apiVersion, kind and metadata first. */
function inOrder({ apiVersion, kind, metadata, ...rest }: JsonObject): JsonObject {
  return {
    apiVersion: apiVersion!,
    kind: kind!,
    ...(metadata === undefined ? {} : { metadata }),
    ...rest,
  };
}

/**
 * Decodes an object of the kind and returns its known fields in the order of the input. Unknown fields are dropped and reported.
 *
 * @throws {TypeFault} for a value of a wrong type.
 */
function readByKind(kind: Kind, input: JsonObject, notes: Note[]): JsonObject {
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
function checkByKind(kind: Kind, input: JsonObject, notes: readonly Note[], context: KindContext): Note[] {
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
