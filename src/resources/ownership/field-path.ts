import { parseExactJson } from "../../base/json/embedded.ts";
import { encodeJson } from "../../base/json/encode.ts";
import type { JsonObject } from "../../base/json/value.ts";

/** The path of a field in messages: `.spec.ports[port=80,protocol="TCP"].name`. */
export function fieldPath(elements: readonly string[]): string {
  return elements.map(textOf).join("");
}

function textOf(element: string): string {
  const rest = element.slice(2);
  switch (element.slice(0, 2)) {
    case "f:":
      return `.${rest}`;
    case "k:": {
      const keys = Object.entries(parseExactJson(rest) as JsonObject);
      return `[${keys.map(([name, value]) => `${name}=${encodeJson(value)}`).join(",")}]`;
    }
    case "v:":
      return `[=${rest}]`;
    default:
      return `[${rest}]`;
  }
}
