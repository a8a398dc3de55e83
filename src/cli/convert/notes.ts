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
 * The language in which it is said how an object of an older version becomes one of a newer: a table of small rules, applied in
 * their order to a copy of the object. Rules never throw: a value of an unexpected form is left alone, and found when the
 * result is read by its declaration.
 */

/** A note for the user of `plinth convert`. */
export interface Note {
  /** Where in the object, as it was given; empty for the object itself. */
  readonly path: string;
  readonly text: string;
  /** Why nothing had to be done, what was done, or what somebody must do before the result can be used. */
  readonly level: "unchanged" | "done" | "unresolved";
}

/** How the kinds of one version become those of another. */
export interface VersionChange {
  readonly from: GroupVersion;
  readonly to: GroupVersion;
  readonly kinds: readonly string[];
  /** None where the two versions have the same form and the same defaults. */
  readonly rules: readonly Rule[];
}

/** Changes a part of the object, or says what it can't. */
export type Rule = (part: Part) => void;

/** A JSON object within the one that is converted, and where it stands. */
export class Part {
  constructor(
    readonly value: JsonObject,
    readonly path: string,
    readonly vocabulary: Vocabulary,
    private readonly notes: Note[],
  ) {}

  /** An object below this one. */
  below(value: JsonObject, path: string): Part {
    return new Part(value, path, this.vocabulary, this.notes);
  }

  /** Where a member stands. */
  pathOf(member: string): string {
    if (member === "") return this.path;
    return this.path === "" ? member : `${this.path}.${member}`;
  }

  /** Says what was done to a member. */
  note(member: string, text: string): void {
    this.notes.push({ path: this.pathOf(member), text, level: "done" });
  }

  /** Says what somebody has to decide about a member. */
  unresolved(member: string, text: string): void {
    const path = this.pathOf(member);
    this.notes.push({ path, text: `cannot be converted: ${text}`, level: "unresolved" });
  }
}

/** Kinds that change their version. */
export function change(
  from: GroupVersion,
  to: GroupVersion,
  kinds: readonly string[],
  ...rules: Rule[]
): VersionChange {
  return { from, to, kinds, rules };
}

/** Rules for every object at a place: `spec.rules[].http.paths[]`. Where there is none, nothing happens. */
export function at(place: string, ...rules: readonly Rule[]): Rule {
  const steps = place.split(".");
  return (part) => {
    for (const found of partsAt([part], steps)) for (const rule of rules) rule(found);
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

/** Gives a member another name; it keeps its place. */
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

/** Moves a member to another place of the same part; both may be paths: `move("serviceName", "service.name")`. */
export function move(from: string, to: string): Rule {
  return ({ value }) => {
    const given = take(value, from);
    if (given !== undefined) put(value, to, given);
  };
}

/** Takes away what the newer version has no place for, and says so with the reason. */
export function drop(member: string, reason: string): Rule {
  return (part) => {
    if (take(part.value, member) !== undefined) part.note(member, `not carried: ${reason}`);
  };
}

/**
 * Writes out what the older version filled in, where the newer one fills in something else, so that the object goes on
 * doing what it did.
 *
 * @param now the newer version's default; undefined where it has none.
 */
export function keepDefault(member: string, before: JsonValue, now: JsonValue | undefined): Rule {
  return (part) => {
    if (isGiven(find(part.value, member))) return;
    if (!put(part.value, member, deepClone(before))) return;
    const instead = now === undefined ? "the new one has none" : `the new one's is ${encodeJson(now)}`;
    part.note(member, `written out: ${encodeJson(before)}, the older version's default; ${instead}`);
  };
}

/** Rules for parts of which a condition holds. */
export function when(condition: (value: JsonObject) => boolean, ...rules: readonly Rule[]): Rule {
  return (part) => {
    if (condition(part.value)) for (const rule of rules) rule(part);
  };
}

/** Says that the newer version must be told something that the older could do without. */
export function mustBeGiven(member: string, text: string): Rule {
  return (part) => {
    if (!isGiven(find(part.value, member))) part.unresolved(member, text);
  };
}

/** Whether a value stands for something: null and the empty text are as good as absent. */
export function isGiven(value: JsonValue | undefined): value is JsonValue {
  return value !== undefined && value !== null && value !== "";
}

/** Whether a value is an object with members. */
export function hasMembers(value: JsonValue | undefined): value is JsonObject {
  return isObject(value) && Object.keys(value).length > 0;
}

/** The member at a path (`spec.template.metadata`) of objects. */
export function find(value: JsonObject, path: string): JsonValue | undefined {
  let found: JsonValue | undefined = value;
  for (const name of path.split(".")) found = isObject(found) ? getMember(found, name) : undefined;
  return found;
}

/** Takes the member at a path away and gives it; undefined where there is none. */
export function take(value: JsonObject, path: string): JsonValue | undefined {
  const [holder, name] = holderOf(value, path);
  const found = isObject(holder) ? getMember(holder, name) : undefined;
  if (isObject(holder) && found !== undefined) delete holder[name];
  return found;
}

/** Sets the member at a path, making the objects on the way; false where something else than an object stands there. */
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

/** Whether a member has a value. */
export function has(member: string, wanted: JsonValue): (value: JsonObject) => boolean {
  return (value) => {
    const found = find(value, member);
    return found !== undefined && deepEqual(found, wanted);
  };
}
