import type { JsonValue } from "../../base/json/value.ts";

/**
 * Encodes JSON as YAML in block style, for small documents such as a Status. It doesn't need the YAML library, which is
 * loaded only for objects.
 */
export function plainYaml(value: JsonValue): string {
  return `${block(value, "")}\n`;
}

function block(value: JsonValue, margin: string): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    return value.map((item) => `${margin}- ${block(item, `${margin}  `).trimStart()}`).join("\n");
  }
  if (typeof value !== "object" || value === null) return scalar(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  if (members.length === 0) return "{}";
  return members.map(([name, member]) => `${margin}${scalar(name)}:${below(member, margin)}`).join("\n");
}

/** Returns a member's value, starting behind its colon. */
function below(value: JsonValue, margin: string): string {
  const isHolder = typeof value === "object" && value !== null && Object.keys(value).length > 0;
  if (!isHolder) return ` ${block(value, "")}`;
  // Items have the indentation of their list's name.
  return `\n${block(value, Array.isArray(value) ? margin : `${margin}  `)}`;
}

/** Plain words that YAML parsers don't read as strings. */
const reserved: ReadonlySet<string> = new Set(["null", "true", "false", "yes", "no", "on", "off", "y", "n"]);

/** A string is unquoted only if every parser reads it as a string; quoted, it is JSON, which is valid YAML. */
function scalar(value: string | number | bigint | boolean | null): string {
  if (typeof value !== "string") return String(value);
  const plain = /^[A-Za-z][\w.-]*(\/[\w.-]+)*$/.test(value) && !reserved.has(value.toLowerCase());
  return plain ? value : JSON.stringify(value);
}
