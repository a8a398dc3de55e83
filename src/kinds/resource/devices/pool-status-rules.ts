import { dnsSubdomainFaults } from "../../../base/names.ts";
import type { KindContext } from "../../../schema/context.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { conditionList } from "../../checks/conditions.ts";
import type { Condition } from "../../meta/condition.ts";
import { fullAttributeName, optionalPoolName } from "./device-names.ts";
import { limitedList } from "./list-rules.ts";

type Count = number | bigint;

/** The filters of a request. */
export interface RequestSpec {
  readonly driver: string;
  readonly poolName?: string | undefined;
  readonly limit?: Count | undefined;
  readonly defaultPartitionTypeAttribute?: string | undefined;
}

interface PartitionStatus {
  readonly attribute: string;
  readonly type: string;
  readonly total?: Count | undefined;
  readonly allocatable?: Count | undefined;
}

interface ShareableSummary {
  readonly fullyAvailableDevices?: Count | undefined;
  readonly partiallyAvailableDevices?: Count | undefined;
  readonly capacity?: readonly unknown[] | undefined;
}

/** The state of a pool. */
export interface PoolStatus {
  readonly driver: string;
  readonly poolName: string;
  readonly generation: Count;
  readonly nodeName?: string | undefined;
  readonly totalDevices?: Count | undefined;
  readonly allocatedDevices?: Count | undefined;
  readonly availableDevices?: Count | undefined;
  readonly unavailableDevices?: Count | undefined;
  readonly resourceSliceCount?: Count | undefined;
  readonly validationError?: string | undefined;
  readonly partitionSummary?: readonly PartitionStatus[] | undefined;
  readonly shareableSummary?: ShareableSummary | undefined;
}

/** The answer to a request. */
export interface RequestStatus {
  readonly poolCount?: Count | undefined;
  readonly pools?: readonly PoolStatus[] | undefined;
  readonly conditions?: readonly Condition[] | undefined;
}

const maxPools = 1000;
const maxConditions = 10;
const maxEntries = 32;
const maxErrorBytes = 256;

/** Checks the filters of a new request. */
export function checkRequestSpec(spec: RequestSpec, report: FieldReport): void {
  const { driver, poolName: pool, limit, defaultPartitionTypeAttribute: attribute } = spec;
  caselessName(driver, report.at("driver"));
  if (pool !== undefined) optionalPoolName(pool, report.at("poolName"));
  if (limit !== undefined) {
    atLeast(limit, 1, report.at("limit"));
    if (limit > maxPools) report.at("limit").invalid(limit, `must be less than or equal to ${maxPools}`);
  }
  if (attribute !== undefined) fullAttributeName(attribute, report.at("defaultPartitionTypeAttribute"));
}

/** Checks the first status of a request. */
export function checkRequestStatus(status: RequestStatus, report: FieldReport, context: KindContext): void {
  const { poolCount, pools, conditions = [] } = status;
  optionalCount(poolCount, 0, report.at("poolCount"));
  limitedList(pools, maxPools, report.at("pools"), checkPool);
  const at = report.at("conditions");
  if (conditions.length > maxConditions) at.tooMany(conditions.length, maxConditions);
  else conditionList(conditions, at, context);
}

function checkPool(pool: PoolStatus, report: FieldReport): void {
  const { driver, generation, nodeName, validationError, partitionSummary, shareableSummary } = pool;
  if (driver !== "") caselessName(driver, report.at("driver"));
  if (pool.poolName !== "") optionalPoolName(pool.poolName, report.at("poolName"));
  if (generation === 0) report.at("generation").required();
  else atLeast(generation, 0, report.at("generation"));
  optionalCount(pool.resourceSliceCount, 1, report.at("resourceSliceCount"));
  optionalCount(pool.totalDevices, 0, report.at("totalDevices"));
  optionalCount(pool.allocatedDevices, 0, report.at("allocatedDevices"));
  optionalCount(pool.availableDevices, 0, report.at("availableDevices"));
  optionalCount(pool.unavailableDevices, 0, report.at("unavailableDevices"));
  if (nodeName !== undefined)
    for (const message of dnsSubdomainFaults(nodeName)) report.at("nodeName").invalid(nodeName, message);
  if (validationError !== undefined && Buffer.byteLength(validationError) > maxErrorBytes)
    report.at("validationError").tooLong(maxErrorBytes);
  checkPartitions(partitionSummary, report.at("partitionSummary"));
  if (shareableSummary !== undefined) checkShareable(shareableSummary, report.at("shareableSummary"));
}

function checkPartitions(list: readonly PartitionStatus[] | undefined, report: FieldReport): void {
  const seen = new Set<string>();
  limitedList(list, maxEntries, report, ({ attribute, type, total, allocatable }, at) => {
    const key = JSON.stringify([attribute, type]);
    if (seen.has(key)) at.duplicate({ attribute, type });
    seen.add(key);
    optionalCount(total, 0, at.at("total"));
    optionalCount(allocatable, 0, at.at("allocatable"));
  });
}

function checkShareable(summary: ShareableSummary, report: FieldReport): void {
  optionalCount(summary.fullyAvailableDevices, 0, report.at("fullyAvailableDevices"));
  optionalCount(summary.partiallyAvailableDevices, 0, report.at("partiallyAvailableDevices"));
  const { capacity = [] } = summary;
  if (capacity.length > maxEntries) report.at("capacity").tooMany(capacity.length, maxEntries);
}

function optionalCount(count: Count | undefined, min: number, report: FieldReport): void {
  if (count !== undefined) atLeast(count, min, report);
}

function atLeast(count: Count, min: number, report: FieldReport): void {
  if (count < min) report.invalid(count, `must be greater than or equal to ${min}`);
}

/** Requires a DNS subdomain, in which capitals are allowed. */
function caselessName(name: string, report: FieldReport): void {
  if (name === "") return report.required();
  for (const message of dnsSubdomainFaults(name.toLowerCase())) report.invalid(name, message);
}
