import { since } from "../../../base/release-rows.ts";
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
  const expression = struct("CELDeviceSelector", "A CEL expression that matches devices.", {
    expression: field(
      1,
      string,
      "CEL expression on the variable `device` that returns true for matching devices.",
    ).declaredRequired(),
  });
  const opaque = struct("OpaqueDeviceConfiguration", "Configuration parameters for one driver.", {
    driver: field(1, string, "Name of the driver.").declaredRequired(),
    parameters: field(2, json, "Parameters in the driver's own format; at most 10 KiB.").declaredRequired(),
  });
  return {
    selector: struct("DeviceSelector", "A condition that matches devices.", {
      cel: field(1, expression, "CEL expression that matches devices.").nullable(),
    }),
    derivedAttribute: struct(
      "DeviceDerivedAttribute",
      "An attribute whose value is computed for each device.",
      {
        name: field(1, string, "Name of the attribute, with its domain.").declaredRequired(),
        expression: field(
          2,
          string,
          "CEL expression on the variable `device` that returns the value.",
        ).declaredRequired(),
      },
    ),
    opaque,
    taint: declareTaint({ struct }),
    toleration: declareToleration({ struct }),
    capacityRequirements: struct("CapacityRequirements", "Capacity that a request needs of each device.", {
      requests: field(1, map(quantity), "Required amount of each capacity."),
    }),
  };
}

type Struct = Pick<DeviceDeclarations, "struct">;

function declareTaint({ struct }: Struct): DeviceStruct {
  return struct(
    "DeviceTaint",
    "A property of a device that repels claims without a matching toleration.",
    {
      key: field(1, string, "Key of the taint.").declaredRequired(),
      value: field(2, string, "Value of the taint."),
      effect: field(
        3,
        string,
        "Effect on claims without a matching toleration: NoSchedule, NoExecute or None.",
      )
        .declaredRequired()
        .knownValues(...taintEffects),
      timeAdded: field(
        4,
        time,
        "Time at which the taint was added. Default: the time of the write.",
      ).nullable(),
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
  return struct("DeviceToleration", "Tolerates device taints that match.", {
    key: field(1, string, "Key of the taint; empty, with the operator Exists, matches all keys."),
    operator: field(2, string, "Comparison of the value: Exists or Equal. Default: Equal.")
      .knownValues("Equal", "Exists")
      .default("Equal"),
    value: field(3, string, "Value of the taint; empty for the operator Exists."),
    effect: field(
      4,
      string,
      "Effect of the taint: NoSchedule, NoExecute or None; empty matches all effects.",
    ).knownValues(...taintEffects),
    tolerationSeconds: field(
      5,
      int64,
      "Seconds for which a NoExecute taint is tolerated; absent for no limit.",
    ).nullable(),
  });
}

/** Fields that a request and an alternative of it share, with the protobuf numbers of the first one and of those added later. */
export function requestFields({ selector }: Pick<CommonStructs, "selector">, first: number) {
  return {
    deviceClassName: field(first, string, "Name of the DeviceClass.").declaredRequired(),
    selectors: field(
      first + 1,
      list(selector),
      "Selectors that must all match a device; at most 32.",
    ).atomic(),
    allocationMode: field(
      first + 2,
      string,
      "ExactCount allocates `count` devices, All every matching device. Default: ExactCount.",
    ).knownValues("All", "ExactCount"),
    count: field(first + 3, int64, "Number of devices; only for the mode ExactCount. Default: 1."),
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
      field(first, list(toleration), "Device taints that the request tolerates.")
        .atomic()
        .gated("DRADeviceTaints"),
    ),
    capacity: since(
      "1.34",
      field(first + 1, capacityRequirements, "Capacity required of each device.")
        .nullable()
        .gated("DRAConsumableCapacity"),
    ),
    derivedAttributes: since(
      "1.37",
      field(first + 2, list(derivedAttribute), "Computed attributes that constraints can use; at most 32.")
        .atomic()
        .gated("DRADerivedAttributes"),
    ),
  };
}

/** The field `adminAccess`, which allows to use devices that are in use. */
export function adminAccess(number: number) {
  return field(
    number,
    bool,
    "Whether the access is for administration, and extends to devices in use. Default: false.",
  )
    .nullable()
    .gated("DRAAdminAccess");
}
