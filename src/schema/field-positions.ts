import type { Field, StructType } from "./types.ts";

/** The fields of a struct by position in declared order, and the positions by field name. */
export interface FieldPositions {
  readonly names: readonly string[];
  readonly fields: readonly Field[];
  readonly positions: ReadonlyMap<string, number>;
  /** Whether the field at a position is always written (`emitEmpty`). */
  readonly always: readonly boolean[];
  /** An array of `undefined` with one element per field; copying it is the fastest way to create such an array. */
  readonly emptySlots: readonly unknown[];
}

const positionsByType = new WeakMap<StructType, FieldPositions>();

/**
 * Returns the field positions of a struct, cached per type. Most values have few of the fields of their type, so iterating over the
 * members of the value and looking up their positions is faster than iterating over all fields.
 */
export function fieldPositionsOf(type: StructType): FieldPositions {
  let positions = positionsByType.get(type);
  if (positions === undefined) {
    const names = Object.keys(type.fields);
    positions = {
      names,
      fields: Object.values(type.fields),
      always: Object.values(type.fields).map(({ facts }) => facts.emitEmpty),
      positions: new Map(names.map((name, position) => [name, position])),
      emptySlots: names.map(() => undefined),
    };
    positionsByType.set(type, positions);
  }
  return positions;
}
