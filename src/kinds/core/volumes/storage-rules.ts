import { dnsSubdomainFaults } from "../../../base/names.ts";
import type { KindContext } from "../../../schema/context.ts";
import type { FieldReport } from "../../../schema/faults.ts";

/** A path from the root. */
function absolutePath(path: string, place: FieldReport): void {
  if (!path.startsWith("/")) place.invalid(path, "must be an absolute path");
}

/** What a server exports is named by a path from its root. */
export function exportedPath(path: string, place: FieldReport): void {
  if (path === "") place.required();
  absolutePath(path, place);
}

const managedDisk =
  "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
const blobDisk = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";

/** Managed disks are addressed otherwise than blobs. */
export function diskAddress(
  disk: { readonly diskURI: string; readonly kind?: string | undefined },
  place: FieldReport,
): void {
  if (disk.diskURI === "") return;
  const [start, form] = disk.kind === "Managed" ? ["/subscriptions/", managedDisk] : ["https://", blobDisk];
  if (!disk.diskURI.startsWith(start)) place.at("diskURI").notSupported(disk.diskURI, [form]);
}

const maxDriverName = 63;

/** Name of a storage driver: a DNS subdomain, whatever its case. */
export function csiDriverName(name: string, place: FieldReport): void {
  if (name.length > maxDriverName) place.tooLong(maxDriverName);
  for (const message of dnsSubdomainFaults(name.toLowerCase())) place.invalid(name, message);
}

/** A reference to a secret by a well-formed name. */
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

/** The name of an iSCSI target or initiator. */
export function targetName(name: string, place: FieldReport): void {
  if (!targetForms.some((form) => form.test(name))) {
    place.invalid(name, "must be a qualified name that starts with iqn, eui or naa");
  }
}

/** A login needs a secret. */
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
  // The reference spells this place so.
  if (disk.initiatorName !== undefined) targetName(disk.initiatorName, place.at("initiatorname"));
}

/** Fibre Channel disks are found by targets and a unit, or by identifiers. */
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

/** Keys of a plugin's options leave the product's own namespaces alone. */
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

/** A dataset is named or identified, not both. */
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

/** Addresses with ports, separated by commas. */
export function registries(text: string, place: FieldReport): void {
  if (text.length >= maxRegistryLength) return place.invalid(text, "is too long");
  const form = /^(\[[^\]]*\]|[^:[\]]*):[^:]*$/;
  if (!text.split(",").every((pair) => form.test(pair))) {
    place.invalid(text, "must be host:port, several of them separated by commas");
  }
}

const maxTenantLength = 64;

/** The identifier of a tenant has a greatest length. */
export function checkTenant(tenant: string, place: FieldReport): void {
  if (tenant.length > maxTenantLength) {
    place.required(`must be a UUID of at most ${maxTenantLength} characters`);
  }
}
