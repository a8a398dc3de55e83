import { apiGroup } from "../../vocabulary/names.ts";
import type { KindContext } from "../../schema/context.ts";
import type { TypedLocalObjectReference, TypedObjectReference } from "./references.ts";

/** The source of a new volume's content: the older field, and the newer one that replaces it. */
export interface DataSources {
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
export function namesSame(a: TypedLocalObjectReference, b: TypedLocalObjectReference): boolean {
  return a.kind === b.kind && a.name === b.name && (a.apiGroup ?? "") === (b.apiGroup ?? "");
}
