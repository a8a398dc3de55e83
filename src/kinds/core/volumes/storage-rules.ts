import { isInDomain } from "../../../vocabulary/names.ts";
import { dnsSubdomainFaults } from "../../../base/names.ts";
import type { KindContext } from "../../../schema/context.ts";
import type { FieldReport } from "../../../schema/faults.ts";

/** Requires an absolute path. */
function absolutePath(path: string, report: FieldReport): void {
  if (!path.startsWith("/")) report.invalid(path, "must be an absolute path");
}

/** Requires the absolute path of an export. */
export function exportedPath(path: string, report: FieldReport): void {
  if (path === "") report.required();
  absolutePath(path, report);
}

const managedDisk =
  "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
const blobDisk = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";

/** Checks the address of a disk: managed disks have a different form than blobs. */
export function diskAddress(
  disk: { readonly diskURI: string; readonly kind?: string | undefined },
  report: FieldReport,
): void {
  if (disk.diskURI === "") return;
  const [start, form] = disk.kind === "Managed" ? ["/subscriptions/", managedDisk] : ["https://", blobDisk];
  if (!disk.diskURI.startsWith(start)) report.at("diskURI").notSupported(disk.diskURI, [form]);
}

const maxDriverName = 63;

/** Requires the name of a CSI driver: a DNS subdomain in any case. */
export function csiDriverName(name: string, report: FieldReport): void {
  if (name.length > maxDriverName) report.tooLong(maxDriverName);
  for (const message of dnsSubdomainFaults(name.toLowerCase())) report.invalid(name, message);
}

/** Requires a reference to a secret with a valid name. */
export function namedSecretOfDriver(
  reference: { readonly name?: string | undefined },
  report: FieldReport,
): void {
  const { name = "" } = reference;
  if (name === "") return report.at("name").required();
  for (const message of dnsSubdomainFaults(name)) report.at("name").invalid(name, message);
}

const targetForms = [
  /^iqn\.\d{4}-\d{2}\.[a-zA-Z0-9.-]+:[^,;*&$|\s]+$/,
  /^eui\.[a-zA-Z0-9]{16}$/,
  /^naa\.[a-zA-Z0-9]{32}$/,
];

/** Requires the name of an iSCSI target or initiator. */
export function targetName(name: string, report: FieldReport): void {
  if (!targetForms.some((form) => form.test(name))) {
    report.invalid(name, "must be a qualified name that starts with iqn, eui or naa");
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
  report: FieldReport,
): void {
  const login = disk.chapAuthDiscovery === true || disk.chapAuthSession === true;
  if (login && disk.secretRef === undefined) report.at("secretRef").required();
  // The spelling of the reference.
  if (disk.initiatorName !== undefined) targetName(disk.initiatorName, report.at("initiatorname"));
}

/** Requires either targets and a LUN, or world wide identifiers of Fibre Channel disks. */
export function checkWorldWideNames(
  disk: {
    readonly targetWWNs?: readonly string[] | undefined;
    readonly wwids?: readonly string[] | undefined;
    readonly lun?: number | undefined;
  },
  report: FieldReport,
): void {
  const { targetWWNs = [], wwids = [], lun } = disk;
  if (targetWWNs.length === 0 && wwids.length === 0) {
    report.at("targetWWNs").required("must specify either targetWWNs or wwids, but not both");
  }
  if (targetWWNs.length > 0 && wwids.length > 0) {
    report.at("targetWWNs").invalid(targetWWNs, "must not be given together with wwids");
  }
  if (targetWWNs.length === 0) return;
  if (lun === undefined) report.at("lun").required("lun is required if targetWWNs is specified");
  else if (lun < 0 || lun > 255) report.at("lun").invalid(lun, "must be between 0 and 255, inclusive");
}

/** Rejects option keys in the namespaces of the product. */
export function pluginOptions(
  options: Readonly<Record<string, string>>,
  report: FieldReport,
  { vocabulary }: KindContext,
): void {
  const reserved = [vocabulary.domain, vocabulary.groupSuffix];
  for (const key of Object.keys(options)) {
    const slash = key.indexOf("/");
    const namespace = (slash < 0 ? key : key.slice(0, slash)).toLowerCase();
    if (slash >= 0 && reserved.some((domain) => isInDomain(domain, namespace))) {
      report.key(key).invalid(key, "the key's namespace is reserved");
    }
  }
}

/** Requires exactly one of the name and the identifier of a dataset. */
export function checkDataset(
  dataset: { readonly datasetName?: string | undefined; readonly datasetUUID?: string | undefined },
  report: FieldReport,
): void {
  const { datasetName = "", datasetUUID = "" } = dataset;
  if (datasetName === "" && datasetUUID === "") {
    report.required("one of datasetName and datasetUUID is required");
  }
  if (datasetName !== "" && datasetUUID !== "") {
    report.invalid("resource", "datasetName and datasetUUID can not be specified simultaneously");
  }
  if (datasetName.includes("/")) report.at("datasetName").invalid(datasetName, "must not contain '/'");
}

const maxRegistryLength = 65535;

/** Requires addresses with ports, separated by commas. */
export function registries(text: string, report: FieldReport): void {
  if (text.length >= maxRegistryLength) return report.invalid(text, "is too long");
  const form = /^(\[[^\]]*\]|[^:[\]]*):[^:]*$/;
  if (!text.split(",").every((pair) => form.test(pair))) {
    report.invalid(text, "must be host:port, several of them separated by commas");
  }
}

const maxTenantLength = 64;

/** Limits the length of a tenant's identifier. */
export function checkTenant(tenant: string, report: FieldReport): void {
  if (tenant.length > maxTenantLength) {
    report.required(`must be a UUID of at most ${maxTenantLength} characters`);
  }
}
