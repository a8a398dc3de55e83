import type { Kind, ObjectFor } from "../schema/kind.ts";
import type { GroupSuffix } from "../vocabulary/vocabularies.ts";
import type * as exported from "./all.ts";

type GroupNameOf<G> = G extends { readonly base: infer B extends string; readonly suffixed: infer S }
  ? S extends true
    ? `${B}.${GroupSuffix}`
    : B
  : never;

type ApiVersion<G extends string, V extends string> = G extends "" ? V : `${G}/${V}`;

/** `apiVersion kind` of a kind's objects, in both vocabularies. */
type KeyOf<K extends Kind> = `${ApiVersion<GroupNameOf<K["group"]>, K["version"]>} ${K["name"]}`;

/** The types of the objects of some kinds, by `apiVersion kind`. */
export type ObjectsOf<K extends readonly Kind[]> = {
  [One in K[number] as string extends One["name"] ? never : KeyOf<One>]: ObjectFor<One>;
};

type BuiltIn = typeof exported;

/** The types of the objects of the built-in kinds, by `apiVersion kind`: `BuiltInObjects["v1 ConfigMap"]`. */
export type BuiltInObjects = {
  [Name in keyof BuiltIn as BuiltIn[Name] extends Kind ? KeyOf<BuiltIn[Name]> : never]: ObjectFor<
    BuiltIn[Name]
  >;
};
