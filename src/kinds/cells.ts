import { labelSelectorFaults, type LabelSelectorObject } from "../base/selectors/label-selector.ts";

/** Labels as `a=1,b=2`, sorted; `<none>` where there are none. */
export function labelsText(labels: Readonly<Record<string, string>> | null | undefined): string {
  const text = equalities(labels);
  return text === "" ? "<none>" : text;
}

/** Returns labels as a selector that matches exactly them; empty without labels. */
export function equalities(labels: Readonly<Record<string, string>> | null | undefined): string {
  return Object.entries(labels ?? {})
    .toSorted(([a], [b]) => compare(a, b))
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
}

/** Returns a selector as text, its conditions sorted by key; undefined if it is invalid. */
export function selectorText(selector: LabelSelectorObject | null | undefined): string | undefined {
  if (selector === null || selector === undefined) return "";
  if (labelSelectorFaults(selector).length > 0) return undefined;
  const parts: [key: string, text: string][] = Object.entries(selector.matchLabels ?? {}).map(
    ([key, value]) => [key, `${key}=${value}`],
  );
  for (const { key, operator, values = [] } of selector.matchExpressions ?? []) {
    parts.push([key, expressionText(key, operator, values)]);
  }
  return parts
    .toSorted(([a], [b]) => compare(a, b))
    .map(([, text]) => text)
    .join(",");
}

function expressionText(key: string, operator: string, values: readonly string[]): string {
  const list = values.toSorted(compare).join(",");
  switch (operator) {
    case "In":
      return `${key} in (${list})`;
    case "NotIn":
      return `${key} notin (${list})`;
    case "DoesNotExist":
      return `!${key}`;
    default:
      return key;
  }
}

/** Returns a selector for a cell: `<none>` if it is empty, `<error>` if it is invalid. */
export function selectorCell(selector: LabelSelectorObject | null | undefined): string {
  const text = selectorText(selector);
  return text === undefined ? "<error>" : text === "" ? "<none>" : text;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A text, or `<none>` for an empty one. */
export function orNone(text: string | null | undefined): string {
  return text === null || text === undefined || text === "" ? "<none>" : text;
}

interface Template {
  readonly spec?: { readonly containers?: readonly Container[] | null | undefined } | undefined;
}

interface Container {
  readonly name: string;
  readonly image?: string | undefined;
}

/** Returns the names of a template's containers, joined by commas. */
export function containerNames(template: Template | undefined): string {
  return (template?.spec?.containers ?? []).map(({ name }) => name).join(",");
}

/** Returns the images of a template's containers, joined by commas. */
export function containerImages(template: Template | undefined): string {
  return (template?.spec?.containers ?? []).map(({ image }) => image ?? "").join(",");
}

/** Returns the addresses and host names of a load balancer, sorted and without duplicates. */
export function balancerAddresses(
  points: readonly { readonly ip?: string | undefined; readonly hostname?: string | undefined }[] | undefined,
): string[] {
  const addresses = (points ?? []).map(({ ip = "", hostname = "" }) => ip || hostname);
  return [...new Set(addresses.filter((one) => one !== ""))].toSorted();
}
