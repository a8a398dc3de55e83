import { compareQuantities } from "../../base/quantity.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { ObjectMetaValue } from "../../schema/kind.ts";
import { dnsLabel } from "../checks/names.ts";
import { nonNegativeQuantity, readQuantity } from "../checks/quantities.ts";
import { same, unchanged } from "../checks/values.ts";
import { quantityFrom } from "../quantities.ts";
import { checkAccessModes, classAnnotation } from "./access-modes.ts";
import type { TypedLocalObjectReference, TypedObjectReference } from "./references.ts";
import { apiGroup } from "../../vocabulary/names.ts";

type Amounts = Readonly<Record<string, string>>;

interface Resources {
  readonly requests?: Amounts | undefined;
  readonly limits?: Amounts | undefined;
}

interface ClaimSpec extends DataSources {
  readonly accessModes?: readonly string[] | undefined;
  readonly resources?: Resources | undefined;
  readonly volumeName?: string | undefined;
  readonly volumeMode?: string | undefined;
  readonly storageClassName?: string | undefined;
}

interface ClaimStatus {
  readonly phase?: string | undefined;
  readonly capacity?: Amounts | undefined;
  readonly allocatedResources?: Amounts | undefined;
}

interface Claim {
  readonly metadata: ObjectMetaValue;
  readonly spec?: ClaimSpec | undefined;
  readonly status?: ClaimStatus | undefined;
}

/** Checks the spec of a claim. */
export function checkClaimSpec(spec: ClaimSpec, report: FieldReport): void {
  checkAccessModes(spec.accessModes, report.at("accessModes"));
  const size = storageOf(spec.resources?.requests);
  // As in the reference, the path lacks the member `requests`.
  const sizeReport = report.at("resources").key("storage");
  if (size === undefined) sizeReport.required();
  else {
    const quantity = readQuantity(size, sizeReport);
    if (quantity !== undefined && quantity.nanos <= 0n) sizeReport.invalid(size, "must be greater than zero");
  }
  const { dataSource, dataSourceRef } = spec;
  if (dataSource !== undefined) checkCoreSource(dataSource, report.at("dataSource"));
  if (dataSourceRef === undefined) return;
  checkCoreSource(dataSourceRef, report.at("dataSourceRef"));
  const { namespace = "" } = dataSourceRef;
  if (namespace !== "") dnsLabel(namespace, report.at("dataSourceRef", "namespace"));
  if (dataSource === undefined) return;
  if (namespace !== "") {
    report.invalid("dataSource", "may not be specified when dataSourceRef.namespace is specified");
  } else if (!namesSame(dataSource, dataSourceRef)) report.invalid("dataSource", "must match dataSourceRef");
}

function storageOf(amounts: Amounts | undefined): string | undefined {
  return amounts !== undefined && Object.hasOwn(amounts, "storage") ? amounts["storage"] : undefined;
}

/** Rejects data sources in the core group other than claims. */
function checkCoreSource({ apiGroup, kind }: TypedLocalObjectReference, report: FieldReport): void {
  if ((apiGroup ?? "") === "" && kind !== "PersistentVolumeClaim") {
    report.invalid(kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
  }
}

/** Checks the allocated amounts of a status. */
export function checkAllocated(status: ClaimStatus, report: FieldReport): void {
  for (const [name, amount] of Object.entries(status.capacity ?? {})) {
    if (report.full) return;
    nonNegativeQuantity(amount, report.at("capacity").key(name));
  }
  for (const [name, amount] of Object.entries(status.allocatedResources ?? {})) {
    if (report.full) return;
    if (name !== "storage") report.at("allocatedResources").notSupported(name, ["storage"]);
    else nonNegativeQuantity(amount, report.at("allocatedResources").key(name));
  }
}

/**
 * Rejects changes of a claim, so that quotas of claims stay effective. Exceptions: the volume and a missing class can
 * be set once, and a bound claim can grow.
 */
export function checkClaimUpdate(claim: Claim, live: Claim, report: FieldReport, context: KindContext): void {
  const now: ClaimSpec = claim.spec ?? {};
  const before: ClaimSpec = live.spec ?? {};
  const expected = {
    ...before,
    volumeName: (before.volumeName ?? "") === "" ? now.volumeName : before.volumeName,
    storageClassName: expectedClass(claim, live, report, context),
  };
  const submitted = { ...now, volumeName: now.volumeName, storageClassName: now.storageClassName };
  if (live.status?.phase === "Bound" && now.resources?.requests !== undefined) {
    submitted.resources = withStorage(now.resources, storageOf(before.resources?.requests));
  }
  if (!same(submitted, expected)) {
    report.at("spec").forbidden("is immutable after creation except resources.requests for bound claims");
  }
  checkSize(claim, live, report, context);
  // As in the reference, the path lacks `spec`.
  unchanged(now.volumeMode, before.volumeMode, report.at("volumeMode"));
}

function withStorage(resources: Resources, size: string | undefined): Resources {
  const { storage: _, ...others } = resources.requests ?? {};
  return { ...resources, requests: size === undefined ? others : { ...others, storage: size } };
}

/** Returns the allowed class of the updated claim: its own, the one of its annotation, or any class if it had none. */
function expectedClass(
  claim: Claim,
  live: Claim,
  report: FieldReport,
  { vocabulary }: KindContext,
): string | undefined {
  const key = classAnnotation(vocabulary);
  const before = live.metadata.annotations?.[key];
  const now = claim.metadata.annotations?.[key];
  const [liveClass, newClass] = [live.spec?.storageClassName, claim.spec?.storageClassName];
  const moved =
    before !== undefined &&
    liveClass === undefined &&
    newClass === before &&
    (now === undefined || now === before);
  if (moved) return newClass;
  if ((now ?? "") !== (before ?? "")) {
    report.at("metadata", "annotations", key).invalid(now ?? "", "field is immutable");
  }
  return (before ?? "") === "" && liveClass === undefined ? newClass : liveClass;
}

/** Rejects a smaller size; a failed growth can be reverted if that feature is enabled. */
function checkSize(claim: Claim, live: Claim, report: FieldReport, context: KindContext): void {
  const amountOf = (text: string | undefined) => quantityFrom(text ?? "0");
  const now = amountOf(storageOf(claim.spec?.resources?.requests));
  const before = amountOf(storageOf(live.spec?.resources?.requests));
  if (now === undefined || before === undefined || compareQuantities(now, before) >= 0) return;
  const storageReport = report.at("spec", "resources", "requests", "storage");
  if (!context.enabled("RecoverVolumeExpansionFailure")) {
    return storageReport.forbidden("field can not be less than previous value");
  }
  const capacity = amountOf(storageOf(live.status?.capacity));
  if (capacity !== undefined && compareQuantities(now, capacity) <= 0) {
    storageReport.forbidden("field can not be less than status.capacity");
  }
}

/** Returns warnings for amounts that aren't whole bytes. */
export function fractionWarnings(resources: Resources): string[] {
  return (["requests", "limits"] as const).flatMap((member) => {
    const size = storageOf(resources[member]);
    const quantity = size === undefined ? undefined : quantityFrom(size);
    if (quantity === undefined || quantity.nanos % 1_000_000_000n === 0n) return [];
    return [
      `spec.resources.${member}[storage]: fractional byte value "${size}" is invalid, must be an integer`,
    ];
  });
}

/** The source of a new volume's content: the older field, and the newer one that replaces it. */
interface DataSources {
  dataSource?: TypedLocalObjectReference | undefined;
  dataSourceRef?: TypedObjectReference | undefined;
}

/**
 * Sets both fields to the same source, so that clients of either field find it. Unless the live object already has one,
 * the older field accepts only claims and snapshots; other sources are dropped.
 */
export function matchDataSources(spec: DataSources, live: DataSources, context: KindContext): void {
  const crosses = (spec.dataSourceRef?.namespace ?? "") !== "";
  if (crosses && live.dataSourceRef === undefined && !context.enabled("CrossNamespaceVolumeDataSource")) {
    delete spec.dataSourceRef;
  }
  if (live.dataSource === undefined && !isKnown(spec.dataSource, context)) delete spec.dataSource;
  const { dataSource, dataSourceRef } = spec;
  if (dataSource !== undefined && dataSourceRef === undefined) spec.dataSourceRef = { ...dataSource };
  if (dataSource !== undefined || dataSourceRef === undefined) return;
  const { namespace = "", ...local } = dataSourceRef;
  if (namespace === "") spec.dataSource = local;
}

function isKnown(source: TypedLocalObjectReference | undefined, { vocabulary }: KindContext): boolean {
  if (source === undefined) return false;
  const { kind } = source;
  const group = source.apiGroup ?? "";
  return (
    (group === "" && kind === "PersistentVolumeClaim") ||
    (group === apiGroup(vocabulary.groupSuffix, "snapshot.storage") && kind === "VolumeSnapshot")
  );
}

/** Returns true if two references name the same object. */
function namesSame(a: TypedLocalObjectReference, b: TypedLocalObjectReference): boolean {
  return a.kind === b.kind && a.name === b.name && (a.apiGroup ?? "") === (b.apiGroup ?? "");
}
