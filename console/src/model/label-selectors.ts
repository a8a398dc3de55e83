import { isRecord } from "./paths.ts";

interface Requirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values: readonly string[];
}

/** The labels that an object selects others by. */
export type Requirements = readonly Requirement[];

/**
 * Returns what an object selects in its namespace: `spec.selector` of services, workloads and budgets, `spec.podSelector` of network
 * policies. Undefined without a selector, or with one that the console doesn't know.
 */
export function selectorOf(object: Readonly<Record<string, unknown>>): Requirements | undefined {
  const { spec } = object;
  if (!isRecord(spec)) return undefined;
  const selector = spec["selector"] ?? spec["podSelector"];
  if (!isRecord(selector)) return undefined;
  const { matchLabels, matchExpressions } = selector;
  const isLabelSelector =
    isRecord(matchLabels) || Array.isArray(matchExpressions) || Object.keys(selector).length === 0;
  // A service without labels in its selector selects nothing.
  if (Object.keys(selector).length === 0) return spec["podSelector"] === selector ? [] : undefined;
  const labels = isLabelSelector ? (matchLabels ?? {}) : selector;
  if (!isRecord(labels)) return undefined;
  const result: Requirement[] = [];
  for (const [key, value] of Object.entries(labels)) {
    if (typeof value !== "string") return undefined;
    result.push({ key, operator: "In", values: [value] });
  }
  for (const one of isLabelSelector && Array.isArray(matchExpressions)
    ? (matchExpressions as unknown[])
    : []) {
    if (!isRecord(one) || typeof one["key"] !== "string") return undefined;
    const { key, operator, values } = one;
    if (!["In", "NotIn", "Exists", "DoesNotExist"].includes(String(operator))) return undefined;
    result.push({
      key,
      operator: operator as Requirement["operator"],
      values: Array.isArray(values) ? values.map(String) : [],
    });
  }
  return result;
}

export function matches(requirements: Requirements, labels: Readonly<Record<string, string>>): boolean {
  return requirements.every(({ key, operator, values }) => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    switch (operator) {
      case "In":
        return value !== undefined && values.includes(value);
      case "NotIn":
        return value === undefined || !values.includes(value);
      case "Exists":
        return value !== undefined;
      case "DoesNotExist":
        return value === undefined;
    }
  });
}

/** Returns the text of a selector, as the parameter `labelSelector`. */
export function selectorText(requirements: Requirements): string {
  return requirements
    .map(({ key, operator, values }) => {
      switch (operator) {
        case "In":
          return values.length === 1 ? `${key}=${values[0]}` : `${key} in (${values.join(",")})`;
        case "NotIn":
          return `${key} notin (${values.join(",")})`;
        case "Exists":
          return key;
        case "DoesNotExist":
          return `!${key}`;
      }
    })
    .join(",");
}
