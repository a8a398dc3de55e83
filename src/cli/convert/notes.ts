import { encodeJson } from "../../base/json/encode.ts";
import {
  deepClone,
  deepEqual,
  getMember,
  isObject,
  setMember,
  type JsonObject,
  type JsonValue,
} from "../../base/json/value.ts";
import type { GroupVersion } from "../../schema/types.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/*
 * Rules for converting objects of older versions: tables of small functions, applied in order to a copy of the
 * object. Rules never throw; a value of an unexpected type is left alone, and reported when the result is decoded.
 */

/** A note for the user of `plinth convert`. */
export interface Note {
  /** Path in the input; empty for the object itself. */
  readonly path: string;
  readonly text: string;
  /**
   * `unchanged`: the reason why nothing was done; `done`: what was done; `unresolved`: what the user must do before
   * the result can be used.
   */
  readonly level: "unchanged" | "done" | "unresolved";
}

/** The conversion of kinds from one version to another. */
export interface VersionChange {
  readonly from: GroupVersion;
  readonly to: GroupVersion;
  readonly kinds: readonly string[];
  /** Empty if both versions have the same fields and defaults. */
  readonly rules: readonly Rule[];
}

/** Changes a part of the object, or adds a note about what it can't convert. */
export type Rule = (part: Part) => void;

/** A JSON object in the converted object, with its path. */
export class Part {
  constructor(
    readonly value: JsonObject,
    readonly path: string,
    readonly vocabulary: Vocabulary,
    private readonly notes: Note[],
  ) {}

  /** Returns the part of an object inside of this one. */
  below(value: JsonObject, path: string): Part {
    return new Part(value, path, this.vocabulary, this.notes);
  }

  /** Returns the path of a member. */
  pathOf(member: string): string {
    if (member === "") return this.path;
    return this.path === "" ? member : `${this.path}.${member}`;
  }

  /** Adds a note about a change of a member. */
  note(member: string, text: string): void {
    this.notes.push({ path: this.pathOf(member), text, level: "done" });
  }

  /** Adds a note about a decision that the user must make. */
  unresolved(member: string, text: string): void {
    const path = this.pathOf(member);
    this.notes.push({ path, text: `cannot be converted: ${text}`, level: "unresolved" });
  }
}

/** Declares the conversion of kinds of a version. */
export function change(
  from: GroupVersion,
  to: GroupVersion,
  kinds: readonly string[],
  ...rules: Rule[]
): VersionChange {
  return { from, to, kinds, rules };
}

/** Applies rules to every object at a path such as `spec.rules[].http.paths[]`. */
export function at(path: string, ...rules: readonly Rule[]): Rule {
  const steps = path.split(".");
  return (part) => {
    for (const match of partsAt([part], steps)) for (const rule of rules) rule(match);
  };
}

function partsAt(parts: readonly Part[], steps: readonly string[]): readonly Part[] {
  const [step, ...rest] = steps;
  if (step === undefined) return parts;
  const name = step.replace(/\[\]$/, "");
  const next = parts.flatMap((part) => {
    const member = getMember(part.value, name);
    if (!step.endsWith("[]")) return isObject(member) ? [part.below(member, part.pathOf(name))] : [];
    if (!Array.isArray(member)) return [];
    return member.flatMap((item, index) =>
      isObject(item) ? [part.below(item, `${part.pathOf(name)}[${index}]`)] : [],
    );
  });
  return partsAt(next, rest);
}

/** Renames a member; keeps its position. */
export function rename(from: string, to: string): Rule {
  return ({ value }) => {
    if (!Object.hasOwn(value, from) || Object.hasOwn(value, to)) return;
    const members = Object.entries(value);
    for (const [name, member] of members) {
      delete value[name];
      setMember(value, name === from ? to : name, member);
    }
  };
}

/** Moves a member within the part; both may be paths: `move("serviceName", "service.name")`. */
export function move(from: string, to: string): Rule {
  return ({ value }) => {
    const member = take(value, from);
    if (member !== undefined) put(value, to, member);
  };
}

/** Removes a member that the newer version lacks, and adds a note with the reason. */
export function drop(member: string, reason: string): Rule {
  return (part) => {
    if (take(part.value, member) !== undefined) part.note(member, `not carried: ${reason}`);
  };
}

/**
 * Writes out the default of the older version if the newer one has another default, so that the object keeps its
 * behaviour.
 *
 * @param now the newer version's default; undefined if it has none.
 */
export function keepDefault(member: string, before: JsonValue, now: JsonValue | undefined): Rule {
  return (part) => {
    if (isSet(find(part.value, member))) return;
    if (!put(part.value, member, deepClone(before))) return;
    const instead = now === undefined ? "the new one has none" : `the new one's is ${encodeJson(now)}`;
    part.note(member, `written out: ${encodeJson(before)}, the older version's default; ${instead}`);
  };
}

/** Applies rules to parts that satisfy a condition. */
export function when(condition: (value: JsonObject) => boolean, ...rules: readonly Rule[]): Rule {
  return (part) => {
    if (condition(part.value)) for (const rule of rules) rule(part);
  };
}

/** Adds a note if a member is missing that only the newer version requires. */
export function mustBeSet(member: string, text: string): Rule {
  return (part) => {
    if (!isSet(find(part.value, member))) part.unresolved(member, text);
  };
}

/** Whether a value is set; null and the empty string count as absent. */
export function isSet(value: JsonValue | undefined): value is JsonValue {
  return value !== undefined && value !== null && value !== "";
}

/** Whether a value is an object with members. */
export function hasMembers(value: JsonValue | undefined): value is JsonObject {
  return isObject(value) && Object.keys(value).length > 0;
}

/** Returns the member at a path (`spec.template.metadata`). */
export function find(value: JsonObject, path: string): JsonValue | undefined {
  let member: JsonValue | undefined = value;
  for (const name of path.split(".")) member = isObject(member) ? getMember(member, name) : undefined;
  return member;
}

/** Removes and returns the member at a path; undefined if there is none. */
export function take(value: JsonObject, path: string): JsonValue | undefined {
  const [holder, name] = holderOf(value, path);
  const member = isObject(holder) ? getMember(holder, name) : undefined;
  if (isObject(holder) && member !== undefined) delete holder[name];
  return member;
}

/**
 * Sets the member at a path and creates the objects on the way; returns false if another type of value is in the way.
 */
export function put(value: JsonObject, path: string, member: JsonValue): boolean {
  let holder = value;
  const names = path.split(".");
  const last = names.pop()!;
  for (const name of names) {
    const next = getMember(holder, name) ?? {};
    if (!isObject(next)) return false;
    setMember(holder, name, next);
    holder = next;
  }
  setMember(holder, last, member);
  return true;
}

function holderOf(value: JsonObject, path: string): [JsonValue | undefined, string] {
  const dot = path.lastIndexOf(".");
  return dot === -1 ? [value, path] : [find(value, path.slice(0, dot)), path.slice(dot + 1)];
}

/** Returns a condition: the member has this value. */
export function has(member: string, expected: JsonValue): (value: JsonObject) => boolean {
  return (value) => {
    const actual = find(value, member);
    return actual !== undefined && deepEqual(actual, expected);
  };
}
