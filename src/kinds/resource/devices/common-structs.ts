import { since } from "../../../schema/later-fields.ts";
import { bool, field, int64, json, list, map, quantity, string, time } from "../../../schema/types.ts";
import type { DeviceDeclarations, DeviceStruct } from "./versions.ts";

/** Effects of a taint on claims; `None` exists since release 1.35. */
export const taintEffects = ["NoExecute", "NoSchedule", "None"];

/** Structs that several kinds of one version share. */
export interface CommonStructs {
  readonly selector: DeviceStruct;
  readonly derivedAttribute: DeviceStruct;
  readonly opaque: DeviceStruct;
  readonly taint: DeviceStruct;
  readonly toleration: DeviceStruct;
  readonly capacityRequirements: DeviceStruct;
}

/** Declares the structs that several kinds share. */
export function declareCommonStructs({ struct }: DeviceDeclarations): CommonStructs {
  const expression = struct("CELDeviceSelector", "A CEL expression that selects devices.", {
    expression: field(
      1,
      string,
      "Expression over the variable `device`; true for a selected device.",
    ).declaredRequired(),
  });
  const opaque = struct("OpaqueDeviceConfiguration", "Configuration for one driver.", {
    driver: field(1, string, "Name of the driver.").declaredRequired(),
    parameters: field(2, json, "Object that only the driver knows; at most 10 KiB.").declaredRequired(),
  });
  return {
    selector: struct("DeviceSelector", "Selects devices.", {
      cel: field(1, expression, "Expression that selects devices.").nullable(),
    }),
    derivedAttribute: struct(
      "DeviceDerivedAttribute",
      "An attribute that an expression computes for a device.",
      {
        name: field(1, string, "Name of the attribute, with its domain.").declaredRequired(),
        expression: field(2, string, "CEL expression over the variable `device`.").declaredRequired(),
      },
    ),
    opaque,
    taint: declareTaint({ struct }),
    toleration: declareToleration({ struct }),
    capacityRequirements: struct("CapacityRequirements", "Amounts that a request needs of each device.", {
      requests: field(1, map(quantity), "Amounts by name of the capacity."),
    }),
  };
}

type Struct = Pick<DeviceDeclarations, "struct">;

function declareTaint({ struct }: Struct): DeviceStruct {
  return struct(
    "DeviceTaint",
    "A taint that repels claims without a toleration from a device.",
    {
      key: field(1, string, "Key of the taint, in the form of a label key.").declaredRequired(),
      value: field(2, string, "Value of the taint."),
      effect: field(3, string, "Effect on claims that don't tolerate the taint.")
        .declaredRequired()
        .knownValues(...taintEffects),
      timeAdded: field(4, time, "When the taint was added; the default is the time of the write.").nullable(),
    },
    {
      fill(copy, { now }) {
        if (now !== undefined) copy.timeAdded ??= secondsOf(now);
      },
    },
  );
}

/** Formats a time in milliseconds since 1970, without fractions of a second. */
export function secondsOf(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 19)}Z`;
}

function declareToleration({ struct }: Struct): DeviceStruct {
  return struct("DeviceToleration", "Tolerates the taints that it matches.", {
    key: field(1, string, "Key of the tolerated taints; empty for all keys."),
    operator: field(2, string, "How the value is compared.").knownValues("Equal", "Exists").default("Equal"),
    value: field(3, string, "Value of the tolerated taints, for the operator Equal."),
    effect: field(4, string, "Effect of the tolerated taints; empty for all effects.").knownValues(
      ...taintEffects,
    ),
    tolerationSeconds: field(5, int64, "Seconds for which a NoExecute taint is tolerated.").nullable(),
  });
}

/** Fields that a request and an alternative of it share, with the protobuf numbers of the first one and of those added later. */
export function requestFields({ selector }: Pick<CommonStructs, "selector">, first: number) {
  return {
    deviceClassName: field(first, string, "Name of the class of the devices.").declaredRequired(),
    selectors: field(
      first + 1,
      list(selector),
      "Expressions that all must be true for a device; at most 32.",
    ).atomic(),
    allocationMode: field(first + 2, string, "How the number of devices is determined.").knownValues(
      "All",
      "ExactCount",
    ),
    count: field(first + 3, int64, "Number of devices, for the mode ExactCount; the default is 1."),
  };
}

/** Fields of a request that came after the first version. */
export function laterRequestFields(
  { toleration, capacityRequirements, derivedAttribute }: CommonStructs,
  first: number,
) {
  return {
    tolerations: since(
      "1.33",
      field(first, list(toleration), "Tolerated taints.").atomic().gated("DRADeviceTaints"),
    ),
    capacity: since(
      "1.34",
      field(first + 1, capacityRequirements, "Needed amounts of the devices' capacities.")
        .nullable()
        .gated("DRAConsumableCapacity"),
    ),
    derivedAttributes: since(
      "1.37",
      field(first + 2, list(derivedAttribute), "Computed attributes for constraints; at most 32.")
        .atomic()
        .gated("DRADerivedAttributes"),
    ),
  };
}

/** The field `adminAccess`, which allows to use devices that are in use. */
export function adminAccess(number: number) {
  return field(number, bool, "Access for administration, also to devices that are in use.")
    .nullable()
    .gated("DRAAdminAccess");
}
