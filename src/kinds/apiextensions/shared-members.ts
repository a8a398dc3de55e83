import { deepEqual, type JsonValue } from "../../base/json/value.ts";
import type { Cause } from "../../base/status-error.ts";

interface Version {
  readonly schema?: { readonly openAPIV3Schema?: unknown } | undefined;
  readonly subresources?: unknown;
  readonly additionalPrinterColumns?: unknown;
}

interface Definition {
  readonly spec: { readonly versions: readonly Version[] | null };
}

/** Members that all versions may have in common, with their name in v1beta1, where they occur once. */
const membersOfAll = new Map<string, string>([
  ["schema", "validation"],
  ["subresources", "subresources"],
  ["additionalPrinterColumns", "additionalPrinterColumns"],
]);

const inVersion = /^spec\.versions\[(\d+)\]\.(\w+)(.*)$/s;

/**
 * Returns faults of a definition with the paths of the reference. It validates the internal version, in which members
 * that all versions have in common occur once: `spec.validation`, `spec.subresources` and
 * `spec.additionalPrinterColumns`.
 */
export function shownFaults(faults: readonly Cause[], { spec }: Definition): readonly Cause[] {
  const [first, ...others] = spec.versions ?? [];
  if (first === undefined) return faults;
  const shared = new Set(
    [...membersOfAll.keys()].filter((name) => {
      const value = memberOf(first, name);
      return value !== undefined && others.every((one) => deepEqual(value, memberOf(one, name) ?? null));
    }),
  );
  return faults.flatMap((cause) => {
    const [, index, name = "", rest] = inVersion.exec(cause.field) ?? [];
    if (!shared.has(name)) return [cause];
    return index === "0" ? [{ ...cause, field: `spec.${membersOfAll.get(name)}${rest}` }] : [];
  });
}

/** Returns a member of a version; undefined if the version has no schema. */
function memberOf(version: Version, name: string): JsonValue | undefined {
  if (name === "schema" && version.schema?.openAPIV3Schema === undefined) return undefined;
  return version[name as keyof Version] as JsonValue | undefined;
}
