import { fieldSetText, type FieldSet } from "../../../src/fields/apply/field-set.ts";
import {
  ApplyConflict,
  applyFields,
  updateFields,
  type Owners,
  type Versions,
} from "../../../src/fields/apply/ownership.ts";
import { shapeOfStruct } from "../../../src/fields/apply/shape.ts";
import { atomicStruct, struct } from "../../../src/schema/meta.ts";
import { field, int32, list, map, string, type StructType } from "../../../src/schema/types.ts";

const Option = struct("Option", "", { level: field(1, int32, ""), note: field(2, string, "") });
const Selector = atomicStruct("Selector", "", { app: field(1, string, ""), tier: field(2, string, "") });
const Port = struct("Port", "", {
  port: field(1, int32, "").required(),
  protocol: field(2, string, "").default("TCP"),
  name: field(3, string, ""),
  option: field(4, Option, ""),
});

/** A field of each shape. */
export const thingFields = {
  replicas: field(1, int32, ""),
  image: field(2, string, ""),
  labels: field(3, map(string), ""),
  whole: field(4, map(string), "").atomic(),
  args: field(5, list(string), "").atomic(),
  tags: field(6, list(string), "").set(),
  ports: field(7, list(Port), "").mapBy("port", "protocol"),
  option: field(8, Option, ""),
  selector: field(9, Selector, ""),
};

const Thing: StructType = struct("Thing", "", thingFields);

export const thingShape = shapeOfStruct(Thing);

/** An object with a single version. */
const oneVersion: Versions = {
  shape: (version) => (version === "v1" ? thingShape : undefined),
  convert: (object) => object,
  canonical: (object) => object,
};

/** One write: a manager applies or updates. */
export type Step =
  | { readonly apply: string; readonly object: object; readonly force?: boolean }
  | { readonly update: string; readonly object: object };

export interface State {
  readonly object: unknown;
  readonly owners: Owners;
}

export const nothing: State = { object: {}, owners: new Map() };

export function take({ object, owners }: State, step: Step): State {
  if ("update" in step) {
    const write = { manager: `${step.update}*`, version: "v1" };
    return { object: step.object, ...updateFields(object, step.object, owners, oneVersion, write) };
  }
  const write = { manager: step.apply, version: "v1", force: step.force ?? false };
  return applyFields(object, step.object, owners, oneVersion, write);
}

/** Returns the paths of a set as texts. */
export function texts(set: FieldSet): string[] {
  return [...set.paths()].map((path) => path.join(" "));
}

/** Returns the paths that each manager owns; a star marks managers of updates. */
export function ownersOf({ owners }: State): Record<string, string[]> {
  return Object.fromEntries([...owners].map(([manager, { set }]) => [manager, texts(set)]));
}

/** Returns the conflicts of a step, by manager; throws if there are none. */
export function conflictsOf(state: State, step: Step): Record<string, string[]> {
  try {
    take(state, step);
  } catch (error) {
    if (error instanceof ApplyConflict) return ownersOf({ object: {}, owners: error.fields });
    throw error;
  }
  throw new Error("there is no conflict");
}

/** Returns a set as `fieldsV1`. */
export function encodeFieldSet(set: FieldSet): object {
  return JSON.parse(fieldSetText(set)) as object;
}
