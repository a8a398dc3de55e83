import { isObject, type JsonValue } from "../base/json/value.ts";
import { vocabularyNaming } from "../vocabulary/other-vocabulary.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";

/**
 * Returns the vocabulary of the manifests: that of the first `apiVersion` with a vocabulary's domain, otherwise that
 * of the first qualified key, such as an annotation's. Undefined if no name has such a domain.
 */
export function vocabularyOf(value: JsonValue): Vocabulary | undefined {
  let byKey: Vocabulary | undefined;
  const visit = (one: JsonValue): Vocabulary | undefined => {
    if (Array.isArray(one)) return firstOf(one, visit);
    if (!isObject(one)) return undefined;
    const { apiVersion } = one;
    if (typeof apiVersion === "string") {
      const match = vocabularyOfName(apiVersion);
      if (match !== undefined) return match;
    }
    for (const key of Object.keys(one)) byKey ??= vocabularyOfName(key);
    return firstOf(Object.values(one), visit);
  };
  return visit(value) ?? byKey;
}

function firstOf<T>(values: readonly JsonValue[], find: (value: JsonValue) => T | undefined): T | undefined {
  for (const value of values) {
    const match = find(value);
    if (match !== undefined) return match;
  }
  return undefined;
}

/** Returns the vocabulary of a qualified name, by the domain before its slash. */
function vocabularyOfName(name: string): Vocabulary | undefined {
  const slash = name.indexOf("/");
  if (slash === -1) return undefined;
  const domain = name.slice(0, slash);
  return vocabularyNaming(domain);
}
