import { applies, since } from "../../base/release-rows.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";

interface Reference {
  readonly apiVersion?: string | undefined;
  readonly kind: string;
}

interface Metric {
  readonly object?: { readonly describedObject: Reference } | undefined;
}

interface Spec {
  readonly scaleTargetRef?: Reference | undefined;
  readonly metrics?: readonly Metric[] | undefined;
}

const checksVersions = applies(since("1.34"));

/**
 * Checks the versions of the objects that an autoscaler names, in releases from 1.34 on. What the live autoscaler has already is
 * accepted.
 */
export function checkVersions(
  spec: Spec | undefined,
  live: Spec | undefined,
  report: FieldReport,
  context: KindContext,
): void {
  if (!checksVersions(context)) return;
  const target = spec?.scaleTargetRef;
  const before = live?.scaleTargetRef;
  const unchanged = target?.apiVersion === before?.apiVersion && target?.kind === before?.kind;
  // A replication controller is of the core group, which has no name.
  const needsGroup = target?.kind !== "ReplicationController";
  if (live === undefined || !unchanged)
    checkVersion(target?.apiVersion, needsGroup, report.at("scaleTargetRef", "apiVersion"));
  if (metricsOf(live).some(({ object }) => hasManySlashes(object?.describedObject.apiVersion))) return;
  for (const [index, { object }] of metricsOf(spec).entries())
    checkVersion(
      object?.describedObject.apiVersion,
      false,
      report.at("metrics", index, "object", "describedObject", "apiVersion"),
    );
}

/** The metrics; those of an object that is being validated may be null. */
const metricsOf = (spec: Spec | undefined): readonly Metric[] => spec?.metrics ?? [];

const hasManySlashes = (version = ""): boolean => version.split("/").length > 2;

function checkVersion(version: string | undefined, needsGroup: boolean, report: FieldReport): void {
  if (hasManySlashes(version)) report.invalid(version, `unexpected GroupVersion string: ${version}`);
  else if (needsGroup && !/^[^/]+\//.test(version ?? ""))
    report.invalid(version ?? "", "apiVersion must specify API group");
}
