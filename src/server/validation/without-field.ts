import { deepClone, isObject, type JsonObject, type JsonValue } from "../../base/json/value.ts";

/**
 * Returns a copy of an object without the field at a path; a path that doesn't exist changes nothing. An item of a list is replaced by null
 * so that the indexes of others stay the same.
 *
 * @param path names and indexes, as in the messages of decoding: `spec.ports[0].port`.
 */
export function withoutField(object: JsonObject, path: string): JsonObject {
  const copy = deepClone(object) as JsonObject;
  remove(copy, path);
  return copy;
}

function remove(value: JsonValue, path: string): void {
  if (Array.isArray(value)) {
    const index = /^\[(\d+)\]\.?/.exec(path);
    const at = Number(index?.[1]);
    if (index === null || at >= value.length) return;
    const rest = path.slice(index[0].length);
    if (rest === "") value[at] = null;
    else remove(value[at]!, rest);
    return;
  }
  if (!isObject(value)) return;
  for (const name of Object.keys(value)) {
    if (path === name || path === `[${name}]`) {
      delete value[name];
      return;
    }
    for (const begin of [name, `[${name}]`]) {
      const rest = path.startsWith(begin) ? path.slice(begin.length) : undefined;
      if (rest?.startsWith(".") === true || rest?.startsWith("[") === true)
        return remove(value[name]!, rest.startsWith(".") ? rest.slice(1) : rest);
    }
  }
}
