import { since } from "../../../schema/later-fields.ts";
import { bool, field, int64, list, map, quantity, string, type LaterFields } from "../../../schema/types.ts";
import type { DeviceDeclarations, DeviceStruct, DeviceVersion } from "./versions.ts";

type Struct = Pick<DeviceDeclarations, "struct">;

/** A value of a device: one scalar, or a list of scalars. */
export function declareAttribute({ struct }: Struct): DeviceStruct {
  const values = (number: number, type: Parameters<typeof list>[0], doc: string) =>
    since("1.36", field(number, list(type), doc).atomic().gated("DRAListTypeAttributes"));
  return struct(
    "DeviceAttribute",
    "A value with one of several types.",
    {
      int: field(2, int64, "A whole number.").nullable(),
      bool: field(3, bool, "True or false.").nullable(),
      string: field(4, string, "A text; at most 64 bytes.").nullable(),
      version: field(5, string, "A semantic version; at most 64 bytes.").nullable(),
    },
    {
      later: (): LaterFields => ({
        ints: values(6, int64, "Whole numbers."),
        bools: values(7, bool, "Several of true and false."),
        strings: values(8, string, "Texts; at most 64 bytes each."),
        versions: values(9, string, "Semantic versions; at most 64 bytes each."),
      }),
    },
  );
}

/** A capacity of a device, and how claims may request a part of it. */
export function declareCapacity({ struct }: Struct): DeviceStruct {
  const range = struct("CapacityRequestPolicyRange", "A range of amounts.", {
    min: field(1, quantity, "The smallest amount.").nullable().declaredRequired(),
    max: field(2, quantity, "The largest amount; absent for the capacity.").nullable(),
    step: field(3, quantity, "Amounts differ from the smallest one by multiples of this.").nullable(),
  });
  const policy = struct("CapacityRequestPolicy", "How claims may request a part of a capacity.", {
    default: field(1, quantity, "Amount for requests without one.").nullable().emitEmpty(),
    validValues: field(3, list(quantity), "Allowed amounts, in ascending order; at most 10.").atomic(),
    validRange: field(4, range, "Range of the allowed amounts.").nullable(),
  });
  return struct(
    "DeviceCapacity",
    "A capacity of a device.",
    { value: field(1, quantity, "How much the device has.").declaredRequired() },
    {
      later: (): LaterFields => ({
        requestPolicy: since(
          "1.34",
          field(2, policy, "How claims may request a part.").nullable().gated("DRAConsumableCapacity"),
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
  const counter = struct("Counter", "An amount.", {
    value: field(1, quantity, "The amount.").declaredRequired(),
  });
  return {
    set: struct("CounterSet", "Counters from which devices consume.", {
      name: field(1, string, "Name of the set; a DNS label.").declaredRequired(),
      counters: field(2, map(counter), "Counters by name; at most 32.").declaredRequired(),
    }),
    consumption: struct(
      "DeviceCounterConsumption",
      "Counters that a device consumes.",
      {
        counterSet: field(1, string, "Name of the set.").declaredRequired(),
        counters: field(2, map(counter), "Consumed amounts by name; at most 32.").declaredRequired(),
      },
      {
        later: (): LaterFields => ({
          compatibilityGroups: since(
            "1.37",
            field(3, list(string), "Devices of different groups can't be allocated together; at most 2.")
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
  const mapping = struct("NodeAllocatableMapping", "Use in proportion to the device.", {
    capacityKey: field(1, string, "Capacity of the device that is multiplied.").nullable(),
    capacityMultiplier: field(2, quantity, "Factor for the capacity.").nullable(),
    deviceMultiplier: field(3, quantity, "Use for each device.").nullable(),
  });
  const overhead = struct("NodeAllocatableOverhead", "Use in addition to the devices.", {
    perPod: field(1, quantity, "Use for each pod.").nullable(),
    perContainer: field(2, quantity, "Use for each container.").nullable(),
  });
  return struct("NodeAllocatableResource", "What a device uses of a resource of its node.", {
    mapping: field(3, mapping, "Use in proportion to the device.").nullable(),
    overhead: field(4, overhead, "Use in addition to the devices.").nullable(),
  });
}
