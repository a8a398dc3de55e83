import { since } from "../../../base/release-rows.ts";
import { field, inlined, list, string, type LaterFields } from "../../../schema/types.ts";
import { adminAccess, laterRequestFields, requestFields, type CommonStructs } from "./common-structs.ts";
import type { DeviceStruct, DeviceVersion } from "./versions.ts";

/** The spec of a claim. */
export function declareClaimSpec(version: DeviceVersion, common: CommonStructs): DeviceStruct {
  const { struct } = version.declarations;
  const claim = struct("DeviceClaim", "Requested devices.", {
    requests: field(1, list(declareRequest(version, common)), "Requests for devices; at most 32.")
      .atomic()
      .emitEmpty(),
    constraints: field(
      2,
      list(declareConstraint(version)),
      "Constraints that apply to several devices; at most 32.",
    ).atomic(),
    config: field(
      3,
      list(declareClaimConfiguration(version, common)),
      "Driver-specific configuration; at most 32.",
    ).atomic(),
  });
  return struct("ResourceClaimSpec", "Requested devices and their configuration.", {
    devices: field(1, claim, "Requested devices.").emitEmpty(),
  });
}

function declareRequest(version: DeviceVersion, common: CommonStructs): DeviceStruct {
  const { struct } = version.declarations;
  const name = {
    name: field(1, string, "Name of the request, unique in the claim; a DNS label.").declaredRequired(),
  };
  const alternatives = (number: number) =>
    field(
      number,
      list(declareSubRequest(version, common)),
      "Alternative requests in order of preference; at most 8.",
    )
      .atomic()
      .gated("DRAPrioritizedList");
  if (version.isFirst) {
    return struct(
      "DeviceRequest",
      "A request for devices, possibly with alternatives.",
      { ...name, ...requestFields(common, 2), adminAccess: adminAccess(6) },
      {
        fill: (copy) => (copy.deviceClassName === "" ? undefined : fillRequest(copy)),
        later: () => ({ firstAvailable: since("1.33", alternatives(7)), ...laterRequestFields(common, 8) }),
      },
    );
  }
  const exact = struct(
    "ExactDeviceRequest",
    "A request for devices of one class.",
    { ...requestFields(common, 1), adminAccess: adminAccess(5) },
    { fill: fillRequest, later: () => laterRequestFields(common, 6) },
  );
  return struct("DeviceRequest", "A request for devices, possibly with alternatives.", {
    ...name,
    exactly: field(2, exact, "The request; not together with alternatives in `firstAvailable`.").nullable(),
    firstAvailable: alternatives(3),
  });
}

function declareSubRequest(version: DeviceVersion, common: CommonStructs): DeviceStruct {
  return version.declarations.struct(
    "DeviceSubRequest",
    "An alternative of a request.",
    {
      name: field(1, string, "Name, unique in the request; a DNS label.").declaredRequired(),
      ...requestFields(common, 2),
    },
    { fill: fillRequest, later: () => laterRequestFields(common, version.isFirst ? 7 : 6) },
  );
}

const requestNames = (number: number) =>
  field(
    number,
    list(string),
    "Names of requests, or `<request>/<subrequest>` for alternatives; empty for all.",
  ).atomic();

function declareConstraint({ declarations: { struct } }: DeviceVersion): DeviceStruct {
  return struct(
    "DeviceConstraint",
    "A constraint that the devices of several requests must satisfy together.",
    {
      requests: requestNames(1),
      matchAttribute: field(
        2,
        string,
        "Name of the attribute whose value must be equal for all devices.",
      ).nullable(),
    },
    {
      later: (): LaterFields => ({
        distinctAttribute: since(
          "1.34",
          field(3, string, "Name of the attribute whose value must differ for all devices.")
            .nullable()
            .gated("DRAConsumableCapacity"),
        ),
      }),
    },
  );
}

/** Declares a configuration, whose protobuf message is inlined under a number. */
export function configurationFields(
  { declarations: { struct } }: DeviceVersion,
  { opaque }: CommonStructs,
  number: number,
) {
  const configuration = struct("DeviceConfiguration", "Configuration of devices.", {
    opaque: field(1, opaque, "Configuration parameters for one driver.").nullable(),
  });
  return inlined(number, configuration);
}

function declareClaimConfiguration(version: DeviceVersion, common: CommonStructs): DeviceStruct {
  return version.declarations.struct(
    "DeviceClaimConfiguration",
    "Configuration of the devices of some requests.",
    {
      requests: requestNames(1),
      ...configurationFields(version, common, 2),
    },
  );
}

/** The configuration of allocated devices, which also names its source. */
export function declareAllocatedConfiguration(version: DeviceVersion, common: CommonStructs): DeviceStruct {
  return version.declarations.struct("DeviceAllocationConfiguration", "Configuration of allocated devices.", {
    source: field(1, string, "Source of the configuration: FromClass or FromClaim.")
      .declaredRequired()
      .knownValues("FromClaim", "FromClass"),
    requests: requestNames(2),
    ...configurationFields(version, common, 3),
  });
}

/** The mode that needs a count. */
export const exactCount = "ExactCount";

interface Request {
  allocationMode?: string | undefined;
  count?: number | bigint | undefined;
}

/** Sets the default mode of a request, and the default count of the mode ExactCount. */
function fillRequest(copy: Request): void {
  copy.allocationMode ||= exactCount;
  if (copy.allocationMode === exactCount) copy.count ||= 1;
}
