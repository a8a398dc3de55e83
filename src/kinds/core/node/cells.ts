import { labelKey } from "../../../vocabulary/names.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";

interface Condition {
  readonly type: string;
  readonly status: string;
}

/** Returns the status of a node: `Ready,SchedulingDisabled`. */
export function stateText(conditions: readonly Condition[], unschedulable: boolean): string {
  const ready = conditions.findLast(({ type }) => type === "Ready");
  const state = ready === undefined ? "Unknown" : ready.status === "True" ? "Ready" : "NotReady";
  return unschedulable ? `${state},SchedulingDisabled` : state;
}

/** Returns the roles in a node's labels, sorted. */
export function rolesText(
  labels: Readonly<Record<string, string>> | undefined,
  { domain }: Vocabulary,
): string {
  const prefix = labelKey(domain, "", "node-role");
  const roles = new Set<string>();
  for (const [key, value] of Object.entries(labels ?? {})) {
    if (key.startsWith(prefix)) roles.add(key.slice(prefix.length));
    else if (key === labelKey(domain, "role")) roles.add(value);
  }
  roles.delete("");
  return roles.size === 0 ? "<none>" : [...roles].toSorted().join(",");
}

/** Returns the first address of a type. */
export function addressOf(
  addresses: readonly { readonly type: string; readonly address: string }[] | undefined,
  type: string,
): string {
  return addresses?.find((one) => one.type === type)?.address ?? "<none>";
}

/** Returns a value that a node reports, or `<unknown>`. */
export function orUnknown(text: string | undefined): string {
  return text === undefined || text === "" ? "<unknown>" : text;
}
