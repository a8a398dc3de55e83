import type { JsonValue } from "../../base/json/value.ts";

/**
 * JSON as YAML in block style, for small documents such as a Status: without the library that lays out whole objects, which is
 * loaded only when objects are asked for in YAML.
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

/** A member's value, behind its colon. */
function below(value: JsonValue, margin: string): string {
  const isHolder = typeof value === "object" && value !== null && Object.keys(value).length > 0;
  if (!isHolder) return ` ${block(value, "")}`;
  // Items stand as deep as the name of their list.
  return `\n${block(value, Array.isArray(value) ? margin : `${margin}  `)}`;
}

/** Words that YAML takes for something else than a text. */
const reserved: ReadonlySet<string> = new Set(["null", "true", "false", "yes", "no", "on", "off", "y", "n"]);

/** A text stands without quotes only where no reader takes it for something else; quoted, it is written as JSON, which is YAML. */
function scalar(value: string | number | bigint | boolean | null): string {
  if (typeof value !== "string") return String(value);
  const plain = /^[A-Za-z][\w.-]*(\/[\w.-]+)*$/.test(value) && !reserved.has(value.toLowerCase());
  return plain ? value : JSON.stringify(value);
}
