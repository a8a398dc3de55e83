import { jsonOf } from "../../base/json/value.ts";
import { shapeOfStruct, type Shape } from "../../fields/apply/shape.ts";
import { fieldDifferences, type FieldDifference } from "../../fields/undo/field-differences.ts";
import {
  formOf,
  partsIn,
  sameValue,
  type FieldPath,
  type FieldValue,
} from "../../fields/undo/field-values.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { compareKeys } from "../../storage/keys.ts";
import type { Revision, Store } from "../../storage/store.ts";
import type { Target } from "../engine/engine.ts";
import { ignoredFields } from "../ownership/field-ownership.ts";
import type { Resource } from "../registry/registry.ts";
import { FieldOwners } from "../undo/field-owners.ts";
import {
  changedKeys,
  comparedResource,
  isLocalRegistration,
  prepareRegistries,
  readObjectAt,
  sameResource,
  targetOf,
  type BranchView,
} from "./branch.ts";

/** A side of a comparison: the objects of a view, at a revision or as they are now. */
export interface ComparedSide {
  readonly view: BranchView;
  readonly at?: Revision | undefined;
}

/** What to compare. */
export interface Comparison {
  readonly from: ComparedSide;
  readonly to: ComparedSide;
  /** The state with which the later side began; undefined if nothing is said about who changed a field. */
  readonly start?: ComparedSide | undefined;
  /** The keyspaces whose keys are compared; all other objects are the same on both sides. */
  readonly owns: readonly Store[];
  /** Resolves when the next step may be done. */
  readonly pause: () => Promise<void>;
}

/** The side that changed a field since the workspace began: the workspace, its base, or both. */
export type ChangeOrigin = "workspace" | "base" | "both";

/** A field that differs. */
export interface BranchField extends FieldDifference {
  /** Names of the field managers that own the field on the later side, or on the earlier one if it was removed. */
  readonly managers: readonly string[];
  readonly changedIn: ChangeOrigin | undefined;
}

/** An object that differs. */
export interface BranchDifference {
  /** `terminating` is an object whose deletion has begun and not ended. */
  readonly action: "created" | "changed" | "deleted" | "terminating";
  readonly target: Target;
  /** The fields that differ; empty unless the object was changed. */
  readonly fields: readonly BranchField[];
  /** Number of differing fields beyond those in `fields`. */
  readonly moreFields: number;
  /** What else is to be said about it; nothing by default. */
  readonly notes?: readonly string[] | undefined;
}

/** The result of a comparison. */
export interface BranchDifferences {
  readonly objects: readonly BranchDifference[];
  /** Number of objects that differ beyond those in `objects`. */
  readonly moreObjects: number;
  /** Number of keys that the user may not read on one of the sides. */
  readonly hidden: number;
}

/** Maximum number of objects, and of fields of an object, in a result. */
export const maxObjects = 2000;
const maxFields = 100;

/** Compares two sides by object and field. What the server sets is left out, and so is the status where it is a subresource. */
export async function compareBranches(comparison: Comparison): Promise<BranchDifferences> {
  const { from, to, owns, pause } = comparison;
  const registries = [to.view.engine.registry, from.view.engine.registry] as const;
  await prepareRegistries(...registries);
  const objects: BranchDifference[] = [];
  let moreObjects = 0;
  let hidden = 0;
  for await (const key of keysOf(owns, to)) {
    await pause();
    const resource = comparedResource(key, ...registries);
    const difference = resource && (await differenceOf(resource, key, comparison));
    if (difference === undefined) continue;
    if (difference === "hidden") hidden++;
    else if (objects.length < maxObjects) objects.push(difference);
    else moreObjects++;
  }
  return { objects, moreObjects, hidden };
}

/** Yields the keys that one of some workspaces has written or deleted, in order and each once. */
async function* keysOf(owns: readonly Store[], { view, at }: ComparedSide): AsyncGenerator<string, void> {
  const revision = at ?? (await view.engine.store.latestRevision());
  const heads: { key: string; readonly rest: AsyncGenerator<string, void> }[] = [];
  for (const own of owns) {
    const rest = changedKeys(own, revision);
    const first = await rest.next();
    if (!first.done) heads.push({ key: first.value, rest });
  }
  while (heads.length > 0) {
    const least = heads.map(({ key }) => key).reduce((a, b) => (compareKeys(a, b) <= 0 ? a : b));
    yield least;
    for (const head of heads.filter(({ key }) => key === least)) {
      const next = await head.rest.next();
      if (next.done) heads.splice(heads.indexOf(head), 1);
      else head.key = next.value;
    }
  }
}

async function differenceOf(
  resource: Resource,
  key: string,
  { from, to, start }: Comparison,
): Promise<BranchDifference | "hidden" | undefined> {
  const target = targetOf(resource, key);
  if (!(await from.view.mayGet(target)) || !(await to.view.mayGet(target))) return "hidden";
  const [before, after] = [await read(from, resource, key), await read(to, resource, key)];
  if (isLocalRegistration(resource, after ?? before)) return undefined;
  const difference = differenceBetween(target, before, after);
  if (start === undefined || difference?.action !== "changed") return difference;
  const base = await read(start, resource, key);
  const fields = difference.fields.map((one) => ({ ...one, changedIn: originOf(one, base, target) }));
  return { ...difference, fields };
}

/** Compares two states of an object. @returns undefined if no field differs. */
export function differenceBetween(
  target: Target,
  before: ApiObject | undefined,
  after: ApiObject | undefined,
): BranchDifference | undefined {
  if (before === undefined || after === undefined) {
    if (before === after) return undefined;
    const action = before === undefined ? "created" : "deleted";
    return { action, target, fields: [], moreFields: 0 };
  }
  const shape = shapeOfStruct(target.resource.kind.type);
  const differences = fieldDifferences(jsonOf(before), jsonOf(after), shape, ignoredFields(target));
  if (differences.length === 0) return undefined;
  const owners = { before: new FieldOwners(before, shape), after: new FieldOwners(after, shape) };
  const fields = differences.slice(0, maxFields).map((one): BranchField => ({
    ...one,
    managers: (one.to === undefined ? owners.before : owners.after).of(one.path),
    changedIn: undefined,
  }));
  return { action: "changed", target, fields, moreFields: differences.length - fields.length };
}

async function read(
  { view, at }: ComparedSide,
  resource: Resource,
  key: string,
): Promise<ApiObject | undefined> {
  const { engine } = view;
  return sameResource(resource, engine.registry) && readObjectAt(engine, resource, key, at);
}

function originOf(
  { path, from, to }: FieldDifference,
  base: ApiObject | undefined,
  { resource }: Target,
): ChangeOrigin {
  const value = base && valueAt(jsonOf(base), path, shapeOfStruct(resource.kind.type));
  if (sameValue(value, from)) return "workspace";
  return sameValue(value, to) ? "base" : "both";
}

function valueAt(value: FieldValue, path: FieldPath, shape: Shape): FieldValue {
  const [element, ...rest] = path;
  if (element === undefined) return value;
  const form = formOf([value], shape);
  const part = form === "atomic" ? undefined : partsIn(value, shape, form)?.get(element);
  return part && valueAt(part.value, rest, part.shape);
}
