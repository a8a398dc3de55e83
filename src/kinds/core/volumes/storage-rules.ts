import { dnsSubdomainFaults } from "../../../base/names.ts";
import type { KindContext } from "../../../schema/context.ts";
import type { FieldReport } from "../../../schema/faults.ts";

/** Requires an absolute path. */
function absolutePath(path: string, place: FieldReport): void {
  if (!path.startsWith("/")) place.invalid(path, "must be an absolute path");
}

/** Requires the absolute path of an export. */
export function exportedPath(path: string, place: FieldReport): void {
  if (path === "") place.required();
  absolutePath(path, place);
}

const managedDisk =
  "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
const blobDisk = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";

/** Checks the address of a disk: managed disks have a different form than blobs. */
export function diskAddress(
  disk: { readonly diskURI: string; readonly kind?: string | undefined },
  place: FieldReport,
): void {
  if (disk.diskURI === "") return;
  const [start, form] = disk.kind === "Managed" ? ["/subscriptions/", managedDisk] : ["https://", blobDisk];
  if (!disk.diskURI.startsWith(start)) place.at("diskURI").notSupported(disk.diskURI, [form]);
}

const maxDriverName = 63;

/** Requires the name of a CSI driver: a DNS subdomain in any case. */
export function csiDriverName(name: string, place: FieldReport): void {
  if (name.length > maxDriverName) place.tooLong(maxDriverName);
  for (const message of dnsSubdomainFaults(name.toLowerCase())) place.invalid(name, message);
}

/** Requires a reference to a secret with a valid name. */
export function namedSecretOfDriver(
  reference: { readonly name?: string | undefined },
  place: FieldReport,
): void {
  const { name = "" } = reference;
  if (name === "") return place.at("name").required();
  for (const message of dnsSubdomainFaults(name)) place.at("name").invalid(name, message);
}

const targetForms = [
  /^iqn\.\d{4}-\d{2}\.[a-zA-Z0-9.-]+:[^,;*&$|\s]+$/,
  /^eui\.[a-zA-Z0-9]{16}$/,
  /^naa\.[a-zA-Z0-9]{32}$/,
];

/** Requires the name of an iSCSI target or initiator. */
export function targetName(name: string, place: FieldReport): void {
  if (!targetForms.some((form) => form.test(name))) {
    place.invalid(name, "must be a qualified name that starts with iqn, eui or naa");
  }
}

/** Requires a secret if authentication is enabled. */
export function checkTarget(
  disk: {
    readonly chapAuthDiscovery?: boolean | undefined;
    readonly chapAuthSession?: boolean | undefined;
    readonly secretRef?: object | undefined;
    readonly initiatorName?: string | undefined;
  },
  place: FieldReport,
): void {
  const login = disk.chapAuthDiscovery === true || disk.chapAuthSession === true;
  if (login && disk.secretRef === undefined) place.at("secretRef").required();
  // The spelling of the reference.
  if (disk.initiatorName !== undefined) targetName(disk.initiatorName, place.at("initiatorname"));
}

/** Requires either targets and a LUN, or world wide identifiers of Fibre Channel disks. */
export function checkWorldWideNames(
  disk: {
    readonly targetWWNs?: readonly string[] | undefined;
    readonly wwids?: readonly string[] | undefined;
    readonly lun?: number | undefined;
  },
  place: FieldReport,
): void {
  const { targetWWNs = [], wwids = [], lun } = disk;
  if (targetWWNs.length === 0 && wwids.length === 0) {
    place.at("targetWWNs").required("must specify either targetWWNs or wwids, but not both");
  }
  if (targetWWNs.length > 0 && wwids.length > 0) {
    place.at("targetWWNs").invalid(targetWWNs, "must not be given together with wwids");
  }
  if (targetWWNs.length === 0) return;
  if (lun === undefined) place.at("lun").required("lun is required if targetWWNs is specified");
  else if (lun < 0 || lun > 255) place.at("lun").invalid(lun, "must be between 0 and 255, inclusive");
}

/** Rejects option keys in the namespaces of the product. */
export function pluginOptions(
  options: Readonly<Record<string, string>>,
  place: FieldReport,
  { vocabulary }: KindContext,
): void {
  const reserved = [`.${vocabulary.domain}`, `.${vocabulary.groupSuffix}`];
  for (const key of Object.keys(options)) {
    const slash = key.indexOf("/");
    const namespace = `.${(slash < 0 ? key : key.slice(0, slash)).toLowerCase()}`;
    if (slash >= 0 && reserved.some((end) => namespace.endsWith(end))) {
      place.key(key).invalid(key, "the key's namespace is reserved");
    }
  }
}

/** Requires exactly one of the name and the identifier of a dataset. */
export function checkDataset(
  dataset: { readonly datasetName?: string | undefined; readonly datasetUUID?: string | undefined },
  place: FieldReport,
): void {
  const { datasetName = "", datasetUUID = "" } = dataset;
  if (datasetName === "" && datasetUUID === "") {
    place.required("one of datasetName and datasetUUID is required");
  }
  if (datasetName !== "" && datasetUUID !== "") {
    place.invalid("resource", "datasetName and datasetUUID can not be specified simultaneously");
  }
  if (datasetName.includes("/")) place.at("datasetName").invalid(datasetName, "must not contain '/'");
}

const maxRegistryLength = 65535;

/** Requires addresses with ports, separated by commas. */
export function registries(text: string, place: FieldReport): void {
  if (text.length >= maxRegistryLength) return place.invalid(text, "is too long");
  const form = /^(\[[^\]]*\]|[^:[\]]*):[^:]*$/;
  if (!text.split(",").every((pair) => form.test(pair))) {
    place.invalid(text, "must be host:port, several of them separated by commas");
  }
}

const maxTenantLength = 64;

/** Limits the length of a tenant's identifier. */
export function checkTenant(tenant: string, place: FieldReport): void {
  if (tenant.length > maxTenantLength) {
    place.required(`must be a UUID of at most ${maxTenantLength} characters`);
  }
}
