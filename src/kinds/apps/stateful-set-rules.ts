import { applies, type Row, since } from "../../base/release-rows.ts";
import { checkFields } from "../../schema/check.ts";
import type { KindContext } from "../../schema/context.ts";
import { FieldReport } from "../../schema/faults.ts";
import { kindInRelease } from "../../schema/kind-in-release.ts";
import type { Kind } from "../../schema/kind.ts";
import type { StructType } from "../../schema/types.ts";
import { dnsLabel } from "../checks/names.ts";
import { same } from "../checks/values.ts";
import { PersistentVolumeClaim } from "../core/persistent-volume-claim.ts";
import { PodTemplate } from "../core/pod-template.ts";

type Json = Record<string, unknown>;

interface Claim {
  readonly metadata?: { readonly name?: string | undefined } | undefined;
  readonly spec?: Json | undefined;
}

interface Template {
  readonly spec?: Json | undefined;
}

/** The members of a stateful set's spec that these rules use. */
export interface StatefulSetFacts {
  readonly serviceName?: string | undefined;
  readonly template?: Template | null | undefined;
  readonly volumeClaimTemplates?: readonly Claim[] | undefined;
}

type Rule = (set: Described, report: FieldReport, context: KindContext) => void;

/** A stateful set; its spec has the members of {@link StatefulSetFacts}. */
interface Described {
  readonly spec?: unknown;
}

const factsOf = ({ spec }: Described) => (spec ?? {}) as StatefulSetFacts;

/** The rules of new stateful sets. */
export const newSetRules: readonly Row<Rule>[] = [since("1.33", checkServiceName), since("1.34", checkParts)];

function checkServiceName(set: Described, report: FieldReport): void {
  const { serviceName = "" } = factsOf(set);
  if (serviceName !== "") dnsLabel(serviceName, report.at("spec", "serviceName"));
}

/** Checks the claims and pods of a new stateful set. */
function checkParts(set: Described, report: FieldReport, context: KindContext): void {
  checkNewSet(factsOf(set), report.at("spec"), context);
}

function checkNewSet(spec: StatefulSetFacts, report: FieldReport, context: KindContext): void {
  const type = memberType(PersistentVolumeClaim, "spec", context);
  for (const [index, claim] of (spec.volumeClaimTemplates ?? []).entries()) {
    if (report.full) return;
    checkFields(type, claim.spec ?? {}, report.at("volumeClaimTemplates", index, "spec"), context);
  }
  checkPods(spec, report, context);
}

const checksChangedPods = applies(since("1.34"));

/** Checks the pods of a changed stateful set if those of the live one are valid. */
export function checkChangedSet(
  spec: StatefulSetFacts,
  live: StatefulSetFacts,
  report: FieldReport,
  context: KindContext,
): void {
  if (!checksChangedPods(context)) return;
  const probe = FieldReport.start().probe();
  checkPods(live, probe, context);
  if (probe.faults.length === 0) checkPods(spec, report, context);
}

/** Checks the template as that of pods; their names and the volumes of the claims are those that the controller sets. */
function checkPods(spec: StatefulSetFacts, report: FieldReport, context: KindContext): void {
  const pod = spec.template?.spec ?? {};
  const claims = new Set((spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata?.name ?? ""));
  const { subdomain: _, hostname: __, ...rest } = pod;
  const own = ((pod["volumes"] ?? []) as readonly { readonly name: string }[]).filter(
    ({ name }) => !claims.has(name),
  );
  const volumes = [
    ...[...claims].map((name) => ({ name, persistentVolumeClaim: { claimName: name } })),
    ...own,
  ];
  const template = { ...spec.template, spec: volumes.length > 0 ? { ...rest, volumes } : rest };
  checkFields(memberType(PodTemplate, "template", context), template, report.at("template"), context);
}

/** Returns the type of a member of a kind in the release. */
function memberType(kind: Kind, name: string, { release }: KindContext): StructType {
  return kindInRelease(kind, release!).type.fields[name]!.type as StructType;
}

/** Members of the spec that can't change, with the values of the reference from 1.37 on. */
const fixedMembers = ["selector", "volumeClaimTemplates", "serviceName", "podManagementPolicy"] as const;

/** Reports each changed member that can't change, as releases from 1.37 on do. */
export function checkFixedMembers(now: Json, live: Json, report: FieldReport): void {
  for (const name of fixedMembers)
    if (!same(now[name], live[name])) report.at(name).invalid(now[name], "field is immutable");
}

/** Warns of a negative limit. */
export function historyWarnings({
  spec,
}: {
  readonly spec?: { readonly revisionHistoryLimit?: number | undefined } | undefined;
}): string[] {
  if ((spec?.revisionHistoryLimit ?? 0) >= 0) return [];
  return ["spec.revisionHistoryLimit: a negative value retains all revisions; a value >= 0 is recommended"];
}
