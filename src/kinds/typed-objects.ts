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

/**
 * The types of custom objects, by `apiVersion kind`, for all clients of a program. A program adds members in a declaration of the module
 * `plinth` at the top of a file, such as `"shop.example.com/v1 Order": OrderV1`; `plinth types` writes it.
 */
// eslint-disable-next-line no-empty-interface -- declarations of programs add members
export interface CustomObjects {}

/** The types of the objects that a server has without further kinds, by `apiVersion kind`. */
export type KnownObjects = BuiltInObjects & CustomObjects;

type BuiltIn = typeof exported;

/** The types of the objects of the built-in kinds, by `apiVersion kind`: `BuiltInObjects["v1 ConfigMap"]`. */
export type BuiltInObjects = {
  [Name in keyof BuiltIn as BuiltIn[Name] extends Kind ? KeyOf<BuiltIn[Name]> : never]: ObjectFor<
    BuiltIn[Name]
  >;
};
