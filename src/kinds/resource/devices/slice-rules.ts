import { dnsLabelFaults, dnsSubdomainFaults } from "../../../base/names.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { same, unchanged } from "../../checks/values.ts";
import {
  bindingConditions,
  skippedOperations,
  taint,
  type BindingConditions,
  type Taint,
} from "./config-rules.ts";
import {
  checkAttributes,
  checkCapacities,
  checkNodeResources,
  type Attribute,
  type Capacity,
  type NodeResource,
} from "./device-value-rules.ts";
import { driverName, fullAttributeName, labelName, poolName } from "./device-names.ts";
import { limitedList, limitedSet } from "./list-rules.ts";

interface NodeChoice {
  readonly nodeName?: string | undefined;
  readonly nodeSelector?: { readonly nodeSelectorTerms: readonly unknown[] | null } | undefined;
  readonly allNodes?: boolean | undefined;
}

interface Consumption {
  readonly counterSet: string;
  readonly counters?: Readonly<Record<string, unknown>> | null | undefined;
  readonly compatibilityGroups?: readonly string[] | undefined;
}

interface Device extends NodeChoice, BindingConditions {
  readonly name: string;
  readonly attributes?: Readonly<Record<string, Attribute>> | undefined;
  readonly capacity?: Readonly<Record<string, Capacity>> | undefined;
  readonly consumesCounters?: readonly Consumption[] | undefined;
  readonly taints?: readonly Taint[] | undefined;
  readonly allowMultipleAllocations?: boolean | undefined;
  readonly nodeAllocatableResources?: Readonly<Record<string, NodeResource>> | undefined;
}

interface CounterSet {
  readonly name: string;
  readonly counters?: Readonly<Record<string, unknown>> | null | undefined;
}

/** The spec of a slice. */
export interface SliceSpec extends NodeChoice {
  readonly driver: string;
  readonly pool: {
    readonly name: string;
    readonly generation: number | bigint;
    readonly resourceSliceCount: number | bigint;
  };
  readonly devices?: readonly Device[] | undefined;
  readonly perDeviceNodeSelection?: boolean | undefined;
  readonly sharedCounters?: readonly CounterSet[] | undefined;
  readonly partitionTypeAttribute?: string | undefined;
  readonly skipNodeOperations?: readonly string[] | undefined;
}

const maxDevices = 128;
const maxAdvancedDevices = 64;
const maxCounterSets = 8;
const maxCounters = 32;
const maxConsumptions = 2;
const maxCompatibilityGroups = 2;
const maxTaints = 16;

/** Checks the spec of a slice; `live` is undefined for a new one. */
export function checkSliceSpec(spec: SliceSpec, live: SliceSpec | undefined, report: FieldReport): void {
  driverName(spec.driver, report.at("driver"));
  checkPool(spec.pool, report.at("pool"));
  if (live !== undefined) {
    unchanged(spec.pool.name, live.pool.name, report.at("pool", "name"));
    unchanged(spec.driver, live.driver, report.at("driver"));
    unchanged(spec.nodeName ?? "", live.nodeName ?? "", report.at("nodeName"));
  }
  checkSliceNodes(spec, report);
  const devices = spec.devices ?? [];
  if (spec.sharedCounters !== undefined && devices.length > 0) {
    report.invalid("", "only one of `sharedCounters` or `devices` is allowed");
  }
  const before = new Map((live?.devices ?? []).map((device) => [device.name, device]));
  limitedSet(
    devices,
    devices.some(isAdvanced) ? maxAdvancedDevices : maxDevices,
    report.at("devices"),
    ({ name }) => name,
    (device, at) => checkDevice(device, before.get(device.name), spec.perDeviceNodeSelection === true, at),
  );
  limitedSet(
    spec.sharedCounters,
    maxCounterSets,
    report.at("sharedCounters"),
    ({ name }) => name,
    ({ name, counters }, at) => {
      counterName(name, at.at("name"));
      checkCounters(counters, at.at("counters"));
    },
  );
  if (spec.partitionTypeAttribute !== undefined)
    checkPartitionType(spec, spec.partitionTypeAttribute, report);
  skippedOperations(spec.skipNodeOperations, report.at("skipNodeOperations"));
}

function isAdvanced({ taints = [], consumesCounters = [], attributes = {} }: Device): boolean {
  if (taints.length > 0 || consumesCounters.length > 0) return true;
  return Object.values(attributes).some(({ ints, bools, strings, versions }) => {
    return (ints ?? bools ?? strings ?? versions) !== undefined;
  });
}

function checkPool({ name, generation, resourceSliceCount }: SliceSpec["pool"], report: FieldReport): void {
  poolName(name, report.at("name"));
  if (resourceSliceCount <= 0) {
    report.at("resourceSliceCount").invalid(resourceSliceCount, "must be greater than zero");
  }
  if (generation < 0) report.at("generation").invalid(generation, "must be greater than or equal to zero");
}

const sliceChoices =
  "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";

function checkSliceNodes(spec: SliceSpec, report: FieldReport): void {
  const chosen = chosenNodes(spec, report, "must be either unset or set to a non-empty string");
  const terms = spec.nodeSelector?.nodeSelectorTerms ?? [];
  if (spec.nodeSelector !== undefined && terms.length !== 1) {
    report.at("nodeSelector", "nodeSelectorTerms").invalid(terms, "must have exactly one node selector term");
  }
  if (spec.perDeviceNodeSelection === true) chosen.push("`perDeviceNodeSelection`");
  else if (spec.perDeviceNodeSelection === false) {
    report.at("perDeviceNodeSelection").invalid(false, "must be either unset or set to true");
  }
  if (chosen.length === 0) report.required(sliceChoices);
  else if (chosen.length > 1) {
    report.invalid(`{${chosen.join(", ")}}`, `${sliceChoices}, but multiple fields are set`);
  }
}

/** Checks the choice of nodes, and returns the names of its fields. */
function chosenNodes(
  { nodeName, nodeSelector, allNodes }: NodeChoice,
  report: FieldReport,
  emptyMessage: string,
): string[] {
  const chosen: string[] = [];
  if (nodeName === "") report.at("nodeName").invalid(nodeName, emptyMessage);
  else if (nodeName !== undefined) {
    chosen.push("`nodeName`");
    for (const message of dnsSubdomainFaults(nodeName)) report.at("nodeName").invalid(nodeName, message);
  }
  if (nodeSelector !== undefined) chosen.push("`nodeSelector`");
  if (allNodes === true) chosen.push("`allNodes`");
  else if (allNodes === false) report.at("allNodes").invalid(false, "must be either unset or set to true");
  return chosen;
}

const deviceChoices =
  "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec";

function checkDevice(
  device: Device,
  live: Device | undefined,
  namesNodes: boolean,
  report: FieldReport,
): void {
  labelName(device.name, report.at("name"));
  checkAttributes(device, report);
  if (live === undefined || !same(live.capacity, device.capacity)) {
    checkCapacities(device.capacity ?? {}, device.allowMultipleAllocations === true, report.at("capacity"));
  }
  if (live === undefined || !same(live.taints, device.taints)) {
    limitedList(device.taints, maxTaints, report.at("taints"), taint);
  }
  limitedSet(
    device.consumesCounters,
    maxConsumptions,
    report.at("consumesCounters"),
    ({ counterSet }) => counterSet,
    checkConsumption,
  );
  checkDeviceNodes(device, namesNodes, report);
  bindingConditions(device, report);
  checkNodeResources(
    device.nodeAllocatableResources ?? {},
    device.capacity ?? {},
    report.at("nodeAllocatableResources"),
  );
}

function checkDeviceNodes(device: Device, namesNodes: boolean, report: FieldReport): void {
  const { nodeName, nodeSelector, allNodes } = device;
  if (!namesNodes) {
    if (nodeName === undefined && nodeSelector === undefined && allNodes === undefined) return;
    return report.invalid(
      undefined,
      "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec",
    );
  }
  const chosen = chosenNodes(device, report, "must not be empty");
  if (chosen.length === 0) report.required(deviceChoices);
  else if (chosen.length > 1) report.invalid(`{${chosen.join(", ")}}`, deviceChoices);
}

function checkConsumption(
  { counterSet, counters, compatibilityGroups }: Consumption,
  report: FieldReport,
): void {
  counterName(counterSet, report.at("counterSet"));
  checkCounters(counters, report.at("counters"));
  limitedSet(
    compatibilityGroups,
    maxCompatibilityGroups,
    report.at("compatibilityGroups"),
    (group) => group,
    labelName,
  );
}

function checkCounters(
  counters: Readonly<Record<string, unknown>> | null | undefined,
  report: FieldReport,
): void {
  const names = Object.keys(counters ?? {});
  if (names.length === 0) return report.required();
  if (names.length > maxCounters) return report.tooMany(names.length, maxCounters);
  for (const name of names) for (const message of dnsLabelFaults(name)) report.invalid(name, message);
}

function counterName(name: string, report: FieldReport): void {
  if (name === "") report.required();
  else labelName(name, report);
}

function checkPartitionType(
  { driver, devices = [] }: SliceSpec,
  attribute: string,
  report: FieldReport,
): void {
  const at = report.at("partitionTypeAttribute");
  fullAttributeName(attribute, at);
  if (devices.every(({ consumesCounters = [] }) => consumesCounters.length === 0)) {
    return at.invalid(attribute, "may only be set on a slice which declares devices that consume counters");
  }
  const ownName = attribute.startsWith(`${driver}/`) ? attribute.slice(driver.length + 1) : undefined;
  for (const [index, { consumesCounters = [], attributes = {} }] of devices.entries()) {
    if (report.full) return;
    if (consumesCounters.length === 0) continue;
    const value = attributes[attribute] ?? (ownName === undefined ? undefined : attributes[ownName]);
    const valueReport = report.at("devices", index, "attributes").key(attribute);
    if (value === undefined) {
      valueReport.required(
        "device consumes counters and `partitionTypeAttribute` names this attribute, so it must be set",
      );
    } else if (value.string === undefined) {
      valueReport.invalid(
        value,
        "must be a string value because `partitionTypeAttribute` names this attribute",
      );
    }
  }
}
