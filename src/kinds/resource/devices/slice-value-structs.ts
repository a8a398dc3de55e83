import { since } from "../../../base/release-rows.ts";
import { bool, field, int64, list, map, quantity, string, type LaterFields } from "../../../schema/types.ts";
import type { DeviceDeclarations, DeviceStruct, DeviceVersion } from "./versions.ts";

type Struct = Pick<DeviceDeclarations, "struct">;

/** A value of a device: one scalar, or a list of scalars. */
export function declareAttribute({ struct }: Struct): DeviceStruct {
  const values = (number: number, type: Parameters<typeof list>[0], doc: string) =>
    since("1.36", field(number, list(type), doc).atomic().gated("DRAListTypeAttributes"));
  return struct(
    "DeviceAttribute",
    "Value of an attribute; exactly one field is set.",
    {
      int: field(2, int64, "Integer value.").nullable(),
      bool: field(3, bool, "Boolean value.").nullable(),
      string: field(4, string, "String value, at most 64 bytes.").nullable(),
      version: field(5, string, "Semantic version, at most 64 bytes.").nullable(),
    },
    {
      later: (): LaterFields => ({
        ints: values(6, int64, "Integer values."),
        bools: values(7, bool, "Boolean values."),
        strings: values(8, string, "String values, at most 64 bytes each."),
        versions: values(9, string, "Semantic versions; at most 64 bytes each."),
      }),
    },
  );
}

/** A capacity of a device, and how claims may request a part of it. */
export function declareCapacity({ struct }: Struct): DeviceStruct {
  const range = struct("CapacityRequestPolicyRange", "Range of amounts that a request can consume.", {
    min: field(1, quantity, "Smallest amount that a request can consume.").nullable().declaredRequired(),
    max: field(2, quantity, "Maximum amount. Default: the capacity.").nullable(),
    step: field(3, quantity, "Step between amounts, counted from the minimum.").nullable(),
  });
  const policy = struct("CapacityRequestPolicy", "Amounts of a capacity that requests can consume.", {
    default: field(1, quantity, "Amount for requests that specify none.").nullable().emitEmpty(),
    validValues: field(3, list(quantity), "Allowed amounts, in ascending order; at most 10.").atomic(),
    validRange: field(4, range, "Range of allowed amounts; not together with `validValues`.").nullable(),
  });
  return struct(
    "DeviceCapacity",
    "A capacity of a device.",
    { value: field(1, quantity, "Total amount of the capacity.").declaredRequired() },
    {
      later: (): LaterFields => ({
        requestPolicy: since(
          "1.34",
          field(2, policy, "Amounts that requests can consume.").nullable().gated("DRAConsumableCapacity"),
        ),
      }),
    },
  );
}

/** Counters that the devices of a pool share. */
export interface CounterStructs {
  readonly set: DeviceStruct;
  readonly consumption: DeviceStruct;
}

/** A set of counters, and what a device consumes of it. */
export function declareCounterSets({ declarations: { struct } }: DeviceVersion): CounterStructs {
  const counter = struct("Counter", "Amount of a counter.", {
    value: field(1, quantity, "Available or consumed amount.").declaredRequired(),
  });
  return {
    set: struct("CounterSet", "A set of counters from which devices consume.", {
      name: field(1, string, "Name of the set; a DNS label.").declaredRequired(),
      counters: field(2, map(counter), "Counters by name; at most 32.").declaredRequired(),
    }),
    consumption: struct(
      "DeviceCounterConsumption",
      "Amounts that a device consumes of a counter set.",
      {
        counterSet: field(1, string, "Name of the counter set.").declaredRequired(),
        counters: field(2, map(counter), "Consumed amount of each counter; at most 32.").declaredRequired(),
      },
      {
        later: (): LaterFields => ({
          compatibilityGroups: since(
            "1.37",
            field(
              3,
              list(string),
              "Compatibility groups; devices without a common group cannot be allocated together. At most 2.",
            )
              .atomic()
              .gated("DRADeviceCompatibilityGroups"),
          ),
        }),
      },
    ),
  };
}

/** What a device uses of a resource of its node. */
export function declareNodeResource({ declarations: { struct } }: DeviceVersion): DeviceStruct {
  const mapping = struct(
    "NodeAllocatableMapping",
    "Amount of a node resource that grows with the allocated devices.",
    {
      capacityKey: field(
        1,
        string,
        "Name of a device capacity; its consumed amount is multiplied by `capacityMultiplier`.",
      ).nullable(),
      capacityMultiplier: field(
        2,
        quantity,
        "Amount of the node resource for each unit of the consumed capacity.",
      ).nullable(),
      deviceMultiplier: field(
        3,
        quantity,
        "Amount of the node resource for each allocated device.",
      ).nullable(),
    },
  );
  const overhead = struct(
    "NodeAllocatableOverhead",
    "Fixed amount of a node resource for each pod and container that uses the device.",
    {
      perPod: field(1, quantity, "Amount for each pod that uses the device.").nullable(),
      perContainer: field(2, quantity, "Amount for each container that uses the device.").nullable(),
    },
  );
  return struct(
    "NodeAllocatableResource",
    "Amount of a node resource, such as memory, that a device needs.",
    {
      mapping: field(
        3,
        mapping,
        "Amount that grows with the number or capacity of the allocated devices.",
      ).nullable(),
      overhead: field(
        4,
        overhead,
        "Fixed amount that each pod and container with the device needs.",
      ).nullable(),
    },
  );
}
