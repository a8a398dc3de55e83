import type { ApiObject, Conversion, Kind } from "../../../schema/kind.ts";

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
export function claimConversion(stored: () => Kind, path: readonly string[]): Conversion {
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
export function sliceConversion(stored: () => Kind): Conversion {
  return { stored, toStored: sliceToStored, fromStored: sliceFromStored };
}
