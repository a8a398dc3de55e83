import { platform } from "../vocabulary/platform.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import type { Kind } from "./kind.ts";
import { structsIn } from "./structs.ts";
import { Field, list, map, type StructType, type Type, type UnionType } from "./types.ts";

const kindsByPrefix = new WeakMap<Kind, Map<string, Kind>>();

/**
 * Returns a kind with the field names of a vocabulary. Some declarations have field names with the prefix `x-platform-`, which
 * becomes the prefix of the vocabulary. Other kinds are returned unchanged.
 */
export function kindInVocabulary(kind: Kind, { schemaExtensionPrefix: prefix }: Vocabulary): Kind {
  if (!kind.hasPrefixedFields || prefix === platform.schemaExtensionPrefix) return kind;
  let byPrefix = kindsByPrefix.get(kind);
  if (byPrefix === undefined) kindsByPrefix.set(kind, (byPrefix = new Map()));
  let renamed = byPrefix.get(prefix);
  if (renamed === undefined) {
    renamed = { ...kind, type: new FieldRenamer(prefix).struct(kind.type) };
    byPrefix.set(prefix, renamed);
  }
  return renamed;
}

/** Copies types with renamed fields; types may be recursive. */
class FieldRenamer {
  private readonly copies = new Map<Type, Type>();

  constructor(private readonly prefix: string) {}

  struct(type: StructType): StructType {
    return this.copyOf(type) as StructType;
  }

  private copyOf(type: Type): Type {
    let copy = this.copies.get(type);
    if (copy === undefined) this.copies.set(type, (copy = this.copy(type)));
    return copy;
  }

  private copy(type: Type): Type {
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
      const hasPrefix = name.startsWith(platform.schemaExtensionPrefix);
      const newName = hasPrefix ? this.prefix + name.slice(platform.schemaExtensionPrefix.length) : name;
      return [newName, new Field(this.copyOf(type), facts)] as const;
    });
    return Object.fromEntries(entries);
  }
}
