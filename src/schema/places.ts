import type { Field, StructType } from "./types.ts";

/** The fields of a struct by their place in the declared order, and the place of each by its name. */
export interface Places {
  readonly names: readonly string[];
  readonly fields: readonly Field[];
  readonly places: ReadonlyMap<string, number>;
  /** The fields that every value has, given or not. */
  readonly always: readonly boolean[];
  /** As many times nothing: to be copied, as the fastest way to a list with a slot for each field. */
  readonly slots: readonly unknown[];
}

const known = new WeakMap<StructType, Places>();

/**
 * Where the fields of a struct stand; put together once a type. Most structs have many fields and most values have few
 * of them, so to go through a value's own members and look up their places is faster than to ask it for every field.
 */
export function placesOf(type: StructType): Places {
  let found = known.get(type);
  if (found === undefined) {
    const names = Object.keys(type.fields);
    found = {
      names,
      fields: Object.values(type.fields),
      always: Object.values(type.fields).map(({ facts }) => facts.emitEmpty),
      places: new Map(names.map((name, place) => [name, place])),
      slots: names.map(() => undefined),
    };
    known.set(type, found);
  }
  return found;
}
