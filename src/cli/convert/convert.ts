import { deepClone, isObject, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import type { KindContext } from "../../schema/context.ts";
import { TypeFault } from "../../schema/decode.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { kindInVocabulary } from "../../schema/spelling.ts";
import type { GroupVersion } from "../../schema/types.ts";
import { kubernetes } from "../../vocabulary/kubernetes.ts";
import { platform } from "../../vocabulary/platform.ts";
import { referenceRelease, type Vocabulary } from "../../vocabulary/vocabulary.ts";
import { lifeCycleOf } from "../../kinds/life-cycles.ts";
import { podSecurityPolicy } from "./policy.ts";
import { checkByKind, readByKind } from "./read.ts";
import {
  apiVersionOf,
  currentGroupVersion,
  declaredKind,
  groupVersionOf,
  mayExist,
  wayTo,
  type Step,
} from "./registry.ts";
import { Part, type Note } from "./notes.ts";

/** What became of an object. */
export interface Converted {
  /** The result; the given object itself where it stays as it is. */
  readonly object: JsonObject;
  readonly outcome: "unchanged" | "converted" | "failed";
  /** Why it stays as it is; otherwise what was written out, not carried, or is left to decide. */
  readonly notes: readonly Note[];
}

const release = `${referenceRelease.major}.${referenceRelease.minor}`;

/**
 * Converts an object, which isn't changed.
 *
 * @param wanted the version to convert to; objects of other groups stay as they are. Undefined stands for the current
 *   version of each kind.
 */
export function convertObject(
  given: JsonObject,
  wanted: GroupVersion | undefined,
  context: KindContext,
): Converted {
  const { vocabulary } = context;
  const { apiVersion, kind } = given;
  if (typeof apiVersion !== "string" || typeof kind !== "string" || apiVersion === "" || kind === "") {
    return failed(given, "it has no apiVersion and kind");
  }
  const groupVersion = groupVersionOf(apiVersion, vocabulary);
  if (groupVersion === undefined) return ofOtherGroup(given, apiVersion, vocabulary);
  const name = apiVersionOf(groupVersion, vocabulary);
  const target = wanted ?? currentGroupVersion(groupVersion, kind, release);
  const gone =
    wanted === undefined || isSame(groupVersion, target) ? whyGone(target, kind, vocabulary) : undefined;
  if (gone !== undefined) return failed(given, gone);
  if (isSame(groupVersion, target)) return unchanged(given, `it is of ${name} already`);
  const way = wayTo(groupVersion, target, kind);
  if (way !== undefined) return alongTheWay(given, way, context);
  if (groupVersion.group.base !== target.group.base) {
    return unchanged(given, `${name} ${kind} is no kind of ${apiVersionOf(target, vocabulary)}`);
  }
  return failed(
    given,
    whyGone(groupVersion, kind, vocabulary) ?? `no conversion leads to ${apiVersionOf(target, vocabulary)}`,
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

/** Why a kind is in no version that could be used; undefined where it is, or where nothing is known about it. */
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

/** Custom kinds stay as they are; built-in ones in the words of the other vocabulary are probably a mistake. */
function ofOtherGroup(given: JsonObject, apiVersion: string, vocabulary: Vocabulary): Converted {
  const other = [platform, kubernetes].find((one) => one.name !== vocabulary.name);
  if (other === undefined || groupVersionOf(apiVersion, other) === undefined) {
    return unchanged(given, `${apiVersion} is of no built-in group`);
  }
  return failed(
    given,
    `${apiVersion} is a name of the ${other.name} vocabulary; say --vocabulary=${other.name}`,
  );
}

function alongTheWay(given: JsonObject, way: readonly Step[], context: KindContext): Converted {
  const notes: Note[] = [];
  const kindName = given["kind"] as string;
  try {
    let object = deepClone(given);
    for (const step of way) {
      object = taken(step, object, notes, context);
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
    return { object: given, outcome: "failed", notes: [{ path: error.path, text, level: "unresolved" }] };
  }
}

function taken(step: Step, object: JsonObject, notes: Note[], context: KindContext): JsonObject {
  if ("rules" in step) {
    const whole = new Part(object, "", context.vocabulary, notes);
    for (const rule of step.rules) rule(whole);
    return object;
  }
  const { kind, source, by } = step;
  const read = readByKind(source, object, notes);
  const had = new Set(Object.keys(read));
  const result = kind.conversion![by]({ metadata: {}, ...read } as unknown as ApiObject, context);
  result.kind = kind.name;
  const members = Object.entries(withoutAbsent(result as JsonObject) as JsonObject);
  // What the conversion adds without content, such as an empty status, nobody asked for.
  const told = members.filter(([name, value]) => had.has(name) || !isEmpty(value));
  return Object.fromEntries(told);
}

function isEmpty(value: JsonValue): boolean {
  return isObject(value) && Object.values(value).every(isEmpty);
}

/** Without the members that code spells as undefined. */
function withoutAbsent(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutAbsent);
  if (!isObject(value)) return value;
  const given = Object.entries(value as Record<string, JsonValue | undefined>).flatMap(([name, member]) =>
    member === undefined ? [] : [[name, withoutAbsent(member)] as const],
  );
  return Object.fromEntries(given);
}

/** The object with what says what it is in front. */
function inOrder({ apiVersion, kind, metadata, ...rest }: JsonObject): JsonObject {
  return {
    apiVersion: apiVersion!,
    kind: kind!,
    ...(metadata === undefined ? {} : { metadata }),
    ...rest,
  };
}
