import { platform } from "../vocabulary/platform.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import type { Kind } from "./kind.ts";
import { structsIn } from "./structs.ts";
import { Field, list, map, type StructType, type Type, type UnionType } from "./types.ts";

const known = new WeakMap<Kind, Map<string, Kind>>();

/**
 * A kind as a vocabulary spells it. Declarations write marks in the names of fields (as those of schemas) in the neutral
 * vocabulary; all other kinds are the same in each.
 */
export function spelledKind(kind: Kind, { schemaExtensionPrefix: prefix }: Vocabulary): Kind {
  if (!kind.hasMarkedFields || prefix === platform.schemaExtensionPrefix) return kind;
  let spellings = known.get(kind);
  if (spellings === undefined) known.set(kind, (spellings = new Map()));
  let found = spellings.get(prefix);
  if (found === undefined) {
    found = { ...kind, type: new Speller(prefix).struct(kind.type) };
    spellings.set(prefix, found);
  }
  return found;
}

/** Copies types with the marks in the names of their fields spelled anew; types may hold themselves. */
class Speller {
  private readonly copies = new Map<Type, Type>();

  constructor(private readonly prefix: string) {}

  struct(type: StructType): StructType {
    return this.copyOf(type) as StructType;
  }

  private copyOf(type: Type): Type {
    let copy = this.copies.get(type);
    if (copy === undefined) this.copies.set(type, (copy = this.make(type)));
    return copy;
  }

  private make(type: Type): Type {
    switch (type.shape) {
      case "scalar":
        return type;
      case "list":
        return list(this.copyOf(type.element));
      case "map":
        return map(this.copyOf(type.value));
      case "union":
        return this.union(type);
      case "struct": {
        const { struct, atomicStruct } = structsIn(type.groupVersion);
        const declare = type.atomic ? atomicStruct : struct;
        return declare(type.name, type.doc, () => this.fields(type.fields), type.rules as object);
      }
    }
  }

  private union({ groupVersion, name, doc, forms }: UnionType): Type {
    return structsIn(groupVersion).union(name, doc, () => this.fields(forms as StructType["fields"]));
  }

  private fields(fields: StructType["fields"]): Record<string, Field> {
    const entries = Object.entries(fields).map(([name, { type, facts }]) => {
      const marked = name.startsWith(platform.schemaExtensionPrefix);
      const spelled = marked ? this.prefix + name.slice(platform.schemaExtensionPrefix.length) : name;
      return [spelled, new Field(this.copyOf(type), facts)] as const;
    });
    return Object.fromEntries(entries);
  }
}
