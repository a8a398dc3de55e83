import { isIPv4 } from "node:net";
import type { FieldReport } from "../../../schema/faults.ts";
import { canonicalAddress, isAddress } from "../../checks/addresses.ts";
import { conditionList } from "../../checks/conditions.ts";
import { same, unchanged } from "../../checks/values.ts";
import type { Condition } from "../../meta/condition.ts";
import {
  requestNamesOf,
  requestReference,
  requestReferences,
  type ClaimSpec,
  type RequestNames,
} from "./claim-rules.ts";
import {
  bindingConditions,
  configuration,
  driverObject,
  skippedOperations,
  tolerations,
  type BindingConditions,
  type Configuration,
  type Toleration,
} from "./config-rules.ts";
import { driverName, labelName, poolName, uuid } from "./device-names.ts";
import { limitedList, limitedSet } from "./list-rules.ts";

interface DeviceId {
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
  readonly shareID?: string | undefined;
}

interface Result extends DeviceId, BindingConditions {
  readonly request: string;
  readonly tolerations?: readonly Toleration[] | undefined;
  readonly skipNodeOperations?: readonly string[] | undefined;
}

interface AllocatedConfiguration extends Configuration {
  readonly source: string;
  readonly requests?: readonly string[] | undefined;
}

interface Allocation {
  readonly devices?:
    | {
        readonly results?: readonly Result[] | undefined;
        readonly config?: readonly AllocatedConfiguration[] | undefined;
      }
    | undefined;
}

interface Consumer {
  readonly resource: string;
  readonly name: string;
  readonly uid: string;
}

interface NetworkData {
  readonly interfaceName?: string | undefined;
  readonly ips?: readonly string[] | undefined;
  readonly hardwareAddress?: string | undefined;
}

interface DeviceState extends DeviceId {
  readonly conditions?: readonly Condition[] | null | undefined;
  readonly data?: unknown;
  readonly networkData?: NetworkData | undefined;
}

interface ClaimStatus {
  readonly allocation?: Allocation | undefined;
  readonly reservedFor?: readonly Consumer[] | undefined;
  readonly devices?: readonly DeviceState[] | undefined;
}

/** A claim with its status. */
export interface Claim {
  readonly metadata: { readonly deletionTimestamp?: string };
  readonly spec?: ClaimSpec | undefined;
  readonly status?: ClaimStatus | undefined;
}

const maxConsumers = 256;
const maxResults = 32;
const maxConfigurations = 64;
const maxStates = 1024;
const maxConditions = 8;
const maxAddresses = 16;
const maxInterfaceNameBytes = 256;
const maxHardwareAddressBytes = 128;

/** Identifies a device, or a share of it, in messages as the reference does. */
function deviceKey({ driver, pool, device, shareID }: DeviceId): string {
  const id = `${driver}/${pool}/${device}`;
  return shareID === undefined ? id : `${id}/${shareID}`;
}

/** Removes the states of devices that are no longer allocated. */
export function currentDeviceStates(status: ClaimStatus, live: ClaimStatus): ClaimStatus {
  const { devices, ...others } = status;
  if (devices === undefined) return status;
  const removed = new Set((live.allocation?.devices?.results ?? []).map(deviceKey));
  for (const result of status.allocation?.devices?.results ?? []) removed.delete(deviceKey(result));
  const current = devices.filter((state) => !removed.has(deviceKey(state)));
  return current.length === 0 ? others : { ...others, devices: current };
}

/** Checks a new status of a claim. */
export function checkClaimStatus(
  { metadata, spec = {}, status = {} }: Claim,
  live: Claim,
  report: FieldReport,
): void {
  const { allocation } = status;
  limitedSet(
    status.reservedFor,
    maxConsumers,
    report.at("reservedFor"),
    ({ uid }) => uid,
    (consumer, at) => {
      for (const name of ["resource", "name", "uid"] as const) {
        if (consumer[name] === "") at.at(name).required();
      }
    },
  );
  const allocated = new Set((allocation?.devices?.results ?? []).map(deviceKey));
  limitedSet(status.devices, maxStates, report.at("devices"), deviceKey, (state, at) => {
    checkState(state, allocated, at);
  });
  checkConsumers(
    metadata.deletionTimestamp !== undefined,
    status,
    live.status ?? {},
    report.at("reservedFor"),
  );
  if (allocation === undefined) return;
  const before = live.status?.allocation;
  if (before !== undefined) return unchanged(allocation, before, report.at("allocation"));
  checkAllocation(allocation, requestNamesOf(spec.devices ?? {}), report.at("allocation", "devices"));
}

function checkConsumers(
  isDeleted: boolean,
  status: ClaimStatus,
  live: ClaimStatus,
  report: FieldReport,
): void {
  const { allocation, reservedFor = [] } = status;
  if (reservedFor.length === 0) return;
  if (allocation === undefined) {
    return report.forbidden("may not be specified when `allocated` is not set");
  }
  if (!isDeleted) return;
  const before = new Map((live.reservedFor ?? []).map((one) => [one.uid, one]));
  if (reservedFor.every((consumer) => same(consumer, before.get(consumer.uid)))) return;
  report.forbidden(
    "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set",
  );
}

function checkAllocation({ devices = {} }: Allocation, names: RequestNames, report: FieldReport): void {
  limitedList(devices.results, maxResults, report.at("results"), (result, at) => {
    requestReference(result.request, names, at.at("request"));
    checkDeviceId(result, at);
    bindingConditions(result, at);
    tolerations(result.tolerations, at.at("tolerations"));
    skippedOperations(result.skipNodeOperations, at.at("skipNodeOperations"));
  });
  const sources = ["FromClaim", "FromClass"];
  limitedList(devices.config, maxConfigurations, report.at("config"), (one, at) => {
    if (one.source === "") at.at("source").required();
    else if (!sources.includes(one.source)) at.at("source").notSupported(one.source, sources);
    requestReferences(one.requests, names, at.at("requests"));
    configuration(one, at);
  });
}

function checkDeviceId({ driver, pool, device, shareID }: DeviceId, report: FieldReport): void {
  driverName(driver, report.at("driver"));
  poolName(pool, report.at("pool"));
  labelName(device, report.at("device"));
  if (shareID !== undefined) uuid(shareID, report.at("shareID"));
}

function checkState(state: DeviceState, allocated: ReadonlySet<string>, report: FieldReport): void {
  checkDeviceId(state, report);
  const key = deviceKey(state);
  if (!allocated.has(key)) report.invalid(key, "must be an allocated device in the claim");
  const conditions = state.conditions ?? [];
  if (conditions.length > maxConditions) report.at("conditions").tooMany(conditions.length, maxConditions);
  conditionList(conditions.slice(0, maxConditions), report.at("conditions"));
  if (state.data !== undefined) driverObject(state.data, report.at("data"));
  if (state.networkData !== undefined) checkNetworkData(state.networkData, report.at("networkData"));
}

function checkNetworkData(
  { interfaceName = "", ips, hardwareAddress = "" }: NetworkData,
  report: FieldReport,
): void {
  if (Buffer.byteLength(interfaceName) > maxInterfaceNameBytes) {
    report.at("interfaceName").tooLong(maxInterfaceNameBytes);
  }
  if (Buffer.byteLength(hardwareAddress) > maxHardwareAddressBytes) {
    report.at("hardwareAddress").tooLong(maxHardwareAddressBytes);
  }
  limitedSet(ips, maxAddresses, report.at("ips"), (address) => address, interfaceAddress);
}

/** Requires an address with a prefix length, in canonical form. */
function interfaceAddress(text: string, report: FieldReport): void {
  const [address = "", length = "", ...more] = text.split("/", 3);
  const maxLength = isIPv4(address) ? 32 : 128;
  const isValid =
    more.length === 0 && isAddress(address) && /^\d{1,3}$/.test(length) && Number(length) <= maxLength;
  if (!isValid) {
    return report.invalid(text, "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)");
  }
  const canonical = `${canonicalAddress(address)}/${Number(length)}`;
  if (canonical !== text) report.invalid(text, `must be in canonical form ("${canonical}")`);
}
