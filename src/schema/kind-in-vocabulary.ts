import { platform } from "../vocabulary/platform.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import { declarationOf, type Kind } from "./kind.ts";
import { TypeCopier } from "./type-copier.ts";
import type { Fields } from "./types.ts";

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
    const copier = new TypeCopier((fields) => withPrefix(fields, prefix));
    renamed = { ...kind, declaration: declarationOf(kind), type: copier.struct(kind.type) };
    byPrefix.set(prefix, renamed);
  }
  return renamed;
}

function withPrefix(fields: Fields, prefix: string): Fields {
  const entries = Object.entries(fields).map(([name, field]) => {
    const hasPrefix = name.startsWith(platform.schemaExtensionPrefix);
    return [hasPrefix ? prefix + name.slice(platform.schemaExtensionPrefix.length) : name, field] as const;
  });
  return Object.fromEntries(entries);
}
