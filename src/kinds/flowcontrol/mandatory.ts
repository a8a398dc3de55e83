import { isDeepStrictEqual } from "node:util";
import { byRelease, since } from "../../base/release-rows.ts";
import type { Release } from "../../base/releases.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/*
 * Objects that are always there and always the same, so that an administrator can't lock themselves out and every request
 * belongs somewhere.
 */

/** Spec of a mandatory priority level. */
export interface MandatoryLevel {
  readonly type: string;
  readonly limited?: object;
  /** Shares of the level `exempt`, which an administrator may change. */
  readonly exempt?: object;
}

/** Name of the level without limits. */
export const exemptLevel = "exempt";

const exemptSpec = byRelease<MandatoryLevel>(
  { type: "Exempt" },
  since("1.28", { type: "Exempt", exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } }),
);

/** Returns the specs of the mandatory priority levels in a release, by name. */
export function mandatoryLevels(release: Release | undefined): Readonly<Record<string, MandatoryLevel>> {
  return {
    [exemptLevel]: exemptSpec({ release }),
    "catch-all": {
      type: "Limited",
      limited: { nominalConcurrencyShares: 5, limitResponse: { type: "Reject" }, lendablePercent: 0 },
    },
  };
}

/** Returns the specs of the mandatory flow schemas, by name. */
export function mandatorySchemas({ systemPrefix }: Vocabulary): Readonly<Record<string, object>> {
  const all = ["*"];
  const everything = {
    resourceRules: [{ verbs: all, apiGroups: all, resources: all, clusterScope: true, namespaces: all }],
    nonResourceRules: [{ verbs: all, nonResourceURLs: all }],
  };
  const groups = (...names: readonly string[]) =>
    names.map((name) => ({ kind: "Group", group: { name: systemPrefix + name } }));
  return {
    exempt: {
      priorityLevelConfiguration: { name: "exempt" },
      matchingPrecedence: 1,
      rules: [{ subjects: groups("masters"), ...everything }],
    },
    "catch-all": {
      priorityLevelConfiguration: { name: "catch-all" },
      matchingPrecedence: 10_000,
      distinguisherMethod: { type: "ByUser" },
      rules: [{ subjects: groups("unauthenticated", "authenticated"), ...everything }],
    },
  };
}

/** Rejects a spec that differs from that of the mandatory object. */
export function checkMandatory(
  name: string,
  spec: unknown,
  fixed: Readonly<Record<string, object>>,
  report: FieldReport,
): void {
  if (!Object.hasOwn(fixed, name) || isDeepStrictEqual(spec, fixed[name])) return;
  report.invalid(spec, `spec of '${name}' must equal the fixed value`);
}
