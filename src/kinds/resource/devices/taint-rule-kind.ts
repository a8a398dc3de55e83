import { since } from "../../../base/release-rows.ts";
import type { Column } from "../../../schema/columns.ts";
import type { KindContext } from "../../../schema/context.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import type { ApiObject } from "../../../schema/kind.ts";
import { removedIn } from "../../../schema/added-fields.ts";
import { ObjectMeta } from "../../../schema/object-meta.ts";
import { field, list, string, type LaterFields } from "../../../schema/types.ts";
import { conditionList } from "../../checks/conditions.ts";
import { same } from "../../checks/values.ts";
import { agedCell, ageColumn, nameColumn } from "../../columns.ts";
import { Condition } from "../../meta/condition.ts";
import type { VersionMembers } from "./claim-kinds.ts";
import { checkSelectors, expressionsOfSelectors, className, type Selector } from "./claim-rules.ts";
import { declareCommonStructs, secondsOf } from "./common-structs.ts";
import { taint, type Taint } from "./config-rules.ts";
import { driverName, labelName, poolName } from "./device-names.ts";
import { checkExpressions } from "./selector-rules.ts";
import type { DeviceVersion } from "./versions.ts";

interface TaintSelector {
  readonly deviceClassName?: string | undefined;
  readonly driver?: string | undefined;
  readonly pool?: string | undefined;
  readonly device?: string | undefined;
  readonly selectors?: readonly Selector[] | undefined;
}

interface RuleSpec {
  readonly deviceSelector?: TaintSelector | undefined;
  readonly taint: Taint & { timeAdded?: string | undefined };
}

const maxConditions = 8;

interface Rule {
  readonly spec?: unknown;
}

const ruleStatus = { initial: () => ({}), keepsMetadata: "all" } as const;

const specOf = ({ spec }: Rule) => (spec ?? { taint: {} }) as RuleSpec;

/** Sets the time of a taint whose effect changes. */
function renewTime(copy: Rule, live: Rule, { now }: KindContext): void {
  const [next, before] = [specOf(copy).taint, specOf(live).taint];
  if (next.effect === before.effect || next.timeAdded !== before.timeAdded || now === undefined) return;
  next.timeAdded = secondsOf(now);
}

const columns: readonly Column<Rule & ApiObject>[] = [
  nameColumn,
  { name: "Key", type: "string", doc: "Key of the taint.", cell: (rule) => specOf(rule).taint.key },
  {
    name: "Value",
    type: "string",
    doc: "Value of the taint.",
    cell: (rule) => specOf(rule).taint.value ?? "",
  },
  {
    name: "Effect",
    type: "string",
    doc: "Effect of the taint.",
    cell: (rule) => specOf(rule).taint.effect,
  },
  {
    name: "TimeAdded",
    type: "string",
    doc: "Time since the taint was added.",
    ...agedCell((rule: Rule, ago) => {
      const { timeAdded } = specOf(rule).taint;
      return timeAdded === undefined ? "" : ago(timeAdded);
    }),
  },
  ageColumn,
];

/** Declares DeviceTaintRule in one version. */
export function declareDeviceTaintRule(
  version: DeviceVersion,
  members: VersionMembers & {
    readonly allowUnconditionalUpdate: boolean;
    readonly returnsDeletedObject: boolean;
  },
) {
  return version.declarations.kind({
    name: "DeviceTaintRule",
    resource: "devicetaintrules",
    singular: "devicetaintrule",
    scope: "Cluster",
    ...members,
    doc: "Adds a taint to all devices that match the selector.",
    fields: {
      metadata: field(1, ObjectMeta, "Metadata of the rule.").emitEmpty(),
      spec: field(2, declareRuleSpec(version), "The selector and the taint.").declaredRequired(),
    },
    later: () => ({
      status: since(
        "1.35",
        field(3, declareRuleStatus(version), "Observed state of the eviction of pods.").emitEmpty(),
      ),
    }),
    status: since("1.35", ruleStatus),
    generationOf: specOf,
    prepareUpdate: since("1.36", renewTime),
    validate(rule, report) {
      const { deviceSelector, taint: input } = specOf(rule);
      if (deviceSelector !== undefined) checkSelector(deviceSelector, report.at("spec", "deviceSelector"));
      taint(input, report.at("spec", "taint"));
    },
    validateUpdate(rule, _live, report, context) {
      if (context.subresource !== "status") return;
      const { conditions = [] } = ((rule as { status?: unknown }).status ?? {}) as {
        conditions?: readonly Condition[];
      };
      const at = report.at("status", "conditions");
      conditionList(conditions, at, context);
      if (conditions.length > maxConditions) at.tooMany(conditions.length, maxConditions);
    },
    validateLast(rule, live, report, context) {
      return checkRuleExpressions(specOf(rule), live && specOf(live), report, context);
    },
    columns,
  });
}

function declareRuleSpec({ declarations }: DeviceVersion) {
  const { struct } = declarations;
  const common = declareCommonStructs(declarations);
  const selector = struct(
    "DeviceTaintSelector",
    "Selector of devices; all fields must match.",
    {
      deviceClassName: field(1, string, "Name of the DeviceClass whose selectors must match.").nullable(),
      driver: field(2, string, "Name of the driver of the devices.").nullable(),
      pool: field(3, string, "Name of the pool of the devices.").nullable(),
      device: field(4, string, "Name of the devices in their pools.").nullable(),
      selectors: field(
        5,
        list(common.selector),
        "Selectors that must all match a device; at most 32.",
      ).atomic(),
    },
    {
      later: (): LaterFields => ({ deviceClassName: removedIn("1.35"), selectors: removedIn("1.35") }),
    },
  );
  return struct("DeviceTaintRuleSpec", "The selected devices and their taint.", {
    deviceSelector: field(
      1,
      selector,
      "Selector of the devices; an empty one selects all devices, an absent one none.",
    ).nullable(),
    taint: field(2, common.taint, "Taint to add to the devices.").declaredRequired(),
  });
}

function declareRuleStatus({ declarations: { struct } }: DeviceVersion) {
  return struct("DeviceTaintRuleStatus", "Observed state of the eviction of pods.", {
    conditions: field(1, list(Condition), "Conditions, such as EvictionInProgress; at most 8.")
      .mapBy("type")
      .patchMerge("type"),
  });
}

function checkSelector(selector: TaintSelector, report: FieldReport): void {
  const { deviceClassName, driver, pool, device, selectors } = selector;
  if (deviceClassName !== undefined) className(deviceClassName, report.at("deviceClassName"));
  if (driver !== undefined) driverName(driver, report.at("driver"));
  if (pool !== undefined) poolName(pool, report.at("pool"));
  if (device !== undefined) labelName(device, report.at("device"));
  checkSelectors(selectors, report.at("selectors"));
}

function checkRuleExpressions(
  { deviceSelector }: RuleSpec,
  live: RuleSpec | undefined,
  report: FieldReport,
  context: KindContext,
): Promise<void> | undefined {
  const selectors = deviceSelector?.selectors;
  if (selectors === undefined || same(selectors, live?.deviceSelector?.selectors)) return undefined;
  return checkExpressions(
    expressionsOfSelectors(selectors, report.at("spec", "deviceSelector", "selectors")),
    context,
  );
}
