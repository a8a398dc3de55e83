import type { BytesShape } from "../base/cbor/encode-cbor.ts";
import type { Field, StructType, Type } from "./types.ts";

const shapes = new WeakMap<StructType, { readonly shape: BytesShape | undefined }>();

/** Returns where a type has bytes; undefined if it has none. Recursive types have none. */
export function bytesShapeOf(type: Type): BytesShape | undefined {
  return shapeOf(type, new Set());
}

function shapeOf(type: Type, outer: Set<Type>): BytesShape | undefined {
  switch (type.shape) {
    case "scalar":
      return type.name === "bytes" ? "bytes" : undefined;
    case "list":
      return eachOf(shapeOf(type.element, outer));
    case "map":
      return eachOf(shapeOf(type.value, outer));
    case "union":
      return undefined;
    case "struct":
      return structShape(type, outer);
  }
}

function eachOf(each: BytesShape | undefined): BytesShape | undefined {
  return each === undefined ? undefined : { members: new Map(), each };
}

function structShape(type: StructType, outer: Set<Type>): BytesShape | undefined {
  const cached = shapes.get(type);
  if (cached !== undefined) return cached.shape;
  if (outer.has(type)) return undefined;
  outer.add(type);
  const members = new Map<string, BytesShape>();
  for (const [name, field] of Object.entries<Field>(type.fields)) {
    const shape = shapeOf(field.type, outer);
    if (shape !== undefined) members.set(name, shape);
  }
  outer.delete(type);
  const shape: BytesShape | undefined = members.size === 0 ? undefined : { members };
  if (outer.size === 0) shapes.set(type, { shape });
  return shape;
}
