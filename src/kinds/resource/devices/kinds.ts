import type { Kind, ApiObject, Conversion } from "../../../schema/kind.ts";
import * as v1 from "../v1.ts";
import * as v1alpha3 from "../v1alpha3.ts";
import * as v1beta1 from "../v1beta1.ts";
import * as v1beta2 from "../v1beta2.ts";
import { declareResourceClaim, declareResourceClaimTemplate, type VersionMembers } from "./claim-kinds.ts";
import { declareDeviceClass } from "./class-kind.ts";
import { sameFields } from "../../same-fields.ts";
import { declareResourcePoolStatusRequest } from "./pool-status-kind.ts";
import { declareDeviceTaintRule } from "./taint-rule-kind.ts";
import type { DeviceVersion } from "./versions.ts";
import { ObjectMeta } from "../../../schema/object-meta.ts";
import { field } from "../../../schema/types.ts";
import { ageColumn, nameColumn } from "../../columns.ts";
import { declareCommonStructs } from "./common-structs.ts";
import { checkSliceSpec, type SliceSpec } from "./slice-rules.ts";
import { declareSliceSpec } from "./slice-structs.ts";

type Members = Record<string, unknown>;

/** Replaces each item of a list in an object. */
function convertItems(holder: unknown, name: string, convert: (item: Members) => Members): void {
  const members = holder as Members | undefined;
  const items = members?.[name];
  if (members !== undefined && Array.isArray(items)) members[name] = (items as Members[]).map(convert);
}

/** Members of a request that v1beta1 has beside its name. */
const exactMembers = [
  "deviceClassName",
  "selectors",
  "allocationMode",
  "count",
  "adminAccess",
  "tolerations",
  "capacity",
  "derivedAttributes",
];

function requestToStored(request: Members): Members {
  const exactly: Members = {};
  const stored: Members = { name: request["name"] };
  for (const name of exactMembers) {
    const value = request[name];
    if (value !== undefined && value !== "") exactly[name] = value;
  }
  if (Object.keys(exactly).length > 0) stored["exactly"] = { deviceClassName: "", ...exactly };
  if (request["firstAvailable"] !== undefined) stored["firstAvailable"] = request["firstAvailable"];
  return stored;
}

function requestFromStored({ exactly, ...others }: Members): Members {
  return { deviceClassName: "", ...others, ...(exactly as Members | undefined) };
}

function convertRequests(
  object: ApiObject,
  path: readonly string[],
  convert: (item: Members) => Members,
): ApiObject {
  let claim: unknown = object["spec"];
  for (const name of path) claim = (claim as Members | undefined)?.[name];
  convertItems(claim, "requests", convert);
  return object;
}

/** Returns the conversion of claims (`path` to the devices in `spec`) between v1beta1 and the stored version. */
function claimConversion(stored: () => Kind, path: readonly string[]): Conversion {
  return {
    stored,
    toStored: (object) => convertRequests(object, path, requestToStored),
    fromStored: (object) => convertRequests(object, path, requestFromStored),
  };
}

function sliceToStored(object: ApiObject): ApiObject {
  const spec = object["spec"] as Members | undefined;
  if (spec?.["nodeName"] === "") delete spec["nodeName"];
  if (spec?.["allNodes"] === false) delete spec["allNodes"];
  convertItems(spec, "devices", ({ name, basic }) => ({ name, ...(basic as Members | undefined) }));
  return object;
}

function sliceFromStored(object: ApiObject): ApiObject {
  convertItems(object["spec"], "devices", ({ name, ...basic }) => ({ name, basic }));
  return object;
}

/** Returns the conversion of slices between v1beta1 and the stored version. */
function sliceConversion(stored: () => Kind): Conversion {
  return { stored, toStored: sliceToStored, fromStored: sliceFromStored };
}

const specOf = (object: { readonly spec: unknown }) => object.spec as SliceSpec;

/** Declares ResourceSlice in one version. */
function declareResourceSlice(version: DeviceVersion, members: VersionMembers) {
  const spec = declareSliceSpec(version, declareCommonStructs(version.declarations));
  return version.declarations.kind({
    name: "ResourceSlice",
    resource: "resourceslices",
    collection: "resourceslices.v1",
    singular: "resourceslice",
    scope: "Cluster",
    returnsDeletedObject: true,
    ...members,
    doc: "Devices of one pool, published by a driver.",
    fields: {
      metadata: field(1, ObjectMeta, "Metadata of the slice.").emitEmpty(),
      spec: field(2, spec, "The pool and its devices.").declaredRequired(),
    },
    selectable: {
      "spec.nodeName": (slice) => specOf(slice).nodeName ?? "",
      "spec.driver": (slice) => specOf(slice).driver,
      "spec.pool.name": (slice) => specOf(slice).pool.name,
    },
    generationOf: specOf,
    validateCreate(slice, report) {
      checkSliceSpec(specOf(slice), undefined, report.at("spec"));
    },
    validateUpdate(slice, live, report) {
      checkSliceSpec(specOf(slice), specOf(live), report.at("spec"));
    },
    warnings(slice) {
      const { driver } = specOf(slice);
      if (driver === driver.toLowerCase()) return [];
      const quoted = JSON.stringify(driver);
      return [`spec.driver: driver names should be lowercase; ${quoted} contains uppercase characters`];
    },
    columns: [
      nameColumn,
      {
        name: "Node",
        type: "string",
        doc: "Name of the node that has the devices.",
        cell: (slice) => specOf(slice).nodeName ?? "",
      },
      {
        name: "Driver",
        type: "string",
        doc: "Name of the driver.",
        cell: (slice) => specOf(slice).driver,
      },
      { name: "Pool", type: "string", doc: "Name of the pool.", cell: (slice) => specOf(slice).pool.name },
      ageColumn,
    ],
  });
}

const first: DeviceVersion = { declarations: v1beta1, isFirst: true };
const second: DeviceVersion = { declarations: v1beta2, isFirst: false };
const stable: DeviceVersion = { declarations: v1, isFirst: false };
const stored = { servedByDefault: true };

/** Release 1.34 and later; the stored versions. */
export const DeviceClassV1: Kind = declareDeviceClass(stable, stored);
export const ResourceClaimV1: Kind = declareResourceClaim(stable, stored);
export const ResourceClaimTemplateV1: Kind = declareResourceClaimTemplate(stable, stored);
export const ResourceSliceV1: Kind = declareResourceSlice(stable, stored);

const beta = (conversion: ReturnType<typeof sameFields>) => ({ servedByDefault: false, conversion });

/** Release 1.33 and later. */
export const DeviceClassV1beta2: Kind = declareDeviceClass(second, beta(sameFields(() => DeviceClassV1)));
export const ResourceClaimV1beta2: Kind = declareResourceClaim(
  second,
  beta(sameFields(() => ResourceClaimV1)),
);
export const ResourceClaimTemplateV1beta2: Kind = declareResourceClaimTemplate(
  second,
  beta(sameFields(() => ResourceClaimTemplateV1)),
);
export const ResourceSliceV1beta2: Kind = declareResourceSlice(
  second,
  beta(sameFields(() => ResourceSliceV1)),
);

/** Release 1.32 and later. */
export const DeviceClassV1beta1: Kind = declareDeviceClass(first, beta(sameFields(() => DeviceClassV1)));
export const ResourceClaimV1beta1: Kind = declareResourceClaim(
  first,
  beta(claimConversion(() => ResourceClaimV1, ["devices"])),
);
export const ResourceClaimTemplateV1beta1: Kind = declareResourceClaimTemplate(
  first,
  beta(claimConversion(() => ResourceClaimTemplateV1, ["spec", "devices"])),
);
export const ResourceSliceV1beta1: Kind = declareResourceSlice(
  first,
  beta(sliceConversion(() => ResourceSliceV1)),
);

/** Release 1.37 and later; the stored version. */
export const DeviceTaintRuleV1: Kind = declareDeviceTaintRule(stable, {
  ...stored,
  allowUnconditionalUpdate: false,
  returnsDeletedObject: false,
});

const earlierRule = {
  ...beta(sameFields(() => DeviceTaintRuleV1)),
  allowUnconditionalUpdate: true,
  returnsDeletedObject: true,
};

/** Release 1.36 and later. */
export const DeviceTaintRuleV1beta2: Kind = declareDeviceTaintRule(second, earlierRule);

/** Release 1.33 and later. */
export const DeviceTaintRuleV1alpha3: Kind = declareDeviceTaintRule(
  { declarations: v1alpha3, isFirst: false },
  earlierRule,
);

/** Release 1.36 and later. */
export const ResourcePoolStatusRequestV1alpha3: Kind = declareResourcePoolStatusRequest(v1alpha3);
