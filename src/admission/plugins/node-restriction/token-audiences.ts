import { applies, since } from "../../../base/release-rows.ts";
import type { Release } from "../../../base/releases.ts";
import { createYielder } from "../../../base/turns/yielding.ts";
import type { Authorizer } from "../../../authorization/authorizer.ts";
import { claimNames } from "../../../authorization/node/references.ts";
import { storage } from "../../../kinds/groups.ts";
import { groupName, type ApiObject } from "../../../schema/kind.ts";
import { reject, type AgentRequest } from "./agent-request.ts";
import { isSet, projectedSources, volumesOf, type Volume } from "./volume-types.ts";

export interface AudienceRules {
  readonly release: Release;
  readonly authorizer: Authorizer;
}

const checksInTree = applies(since("1.33"));

/**
 * An agent requests a token for one audience that a volume of the pod names, or for which the agent has the verb
 * `request-serviceaccounts-token-audience` (1.33 and later). A request without audiences, like a volume without one, is for the
 * server.
 */
export async function checkAudience(
  request: AgentRequest,
  pod: ApiObject,
  rules: AudienceRules,
): Promise<void> {
  const { target, object, user } = request;
  const { audiences } = object!["spec"] as { readonly audiences?: readonly string[] | null };
  if ((audiences ?? []).length > 1) reject(request, "node may only request 0 or 1 audiences");
  const audience = audiences?.[0] ?? "";
  const tokens = projectedSources(pod).flatMap(({ serviceAccountToken: token }) => token ?? []);
  if (tokens.some((token) => (token.audience ?? "") === audience)) return;
  const quoted = JSON.stringify(audience);
  const withInTree = checksInTree(rules);
  const faults = await faultsOfDrivers(request, pod, audience, withInTree);
  if (faults === undefined) return;
  if (faults.length > 0) reject(request, `error validating audience ${quoted}: ${faults.join(", ")}`);
  if (!withInTree) reject(request, `audience ${quoted} not found in pod spec volume`);
  const { verdict } = await rules.authorizer.authorize({
    kind: "resource",
    user,
    verb: "request-serviceaccounts-token-audience",
    group: "",
    version: "v1",
    resource: audience,
    subresource: "",
    namespace: target.namespace,
    name: target.name,
  });
  if (verdict !== "allow")
    reject(request, `${user.name} is not authorized to request tokens for audience ${quoted}`);
}

type DriverVolume = Pick<Volume, "csi"> & Readonly<Record<string, unknown>>;

/** Fields of volumes whose in-tree plugins were replaced by CSI drivers. */
const inTreeDrivers: readonly (readonly [field: string, driver: string])[] = [
  ["awsElasticBlockStore", "ebs.csi.aws.com"],
  ["azureDisk", "disk.csi.azure.com"],
  ["azureFile", "file.csi.azure.com"],
  ["cinder", "cinder.csi.openstack.org"],
  ["gcePersistentDisk", "pd.csi.storage.gke.io"],
  ["portworxVolume", "pxd.portworx.com"],
  ["vsphereVolume", "csi.vsphere.vmware.com"],
];

/** Maximum number of faults in the message of a rejection. */
const maxFaults = 10;

/**
 * Searches the CSI drivers of the volumes of a pod for one that requests tokens for the audience. Reads each claim and each driver
 * once, and yields to the event loop: a pod may have thousands of volumes.
 *
 * @returns undefined if a driver does; otherwise which objects don't exist, or nothing.
 */
async function faultsOfDrivers(
  request: AgentRequest,
  pod: ApiObject,
  audience: string,
  withInTree: boolean,
): Promise<readonly string[] | undefined> {
  const yieldIfDue = createYielder();
  const faults: string[] = [];
  const drivers = new Set<string>();
  for (const volume of volumesOf(pod)) addDriver(drivers, volume, withInTree);
  for (const claim of new Set(claimNames(pod))) {
    await yieldIfDue();
    const volume = await volumeOfClaim(request, claim);
    if ("fault" in volume) faults.push(volume.fault);
    else addDriver(drivers, volume.spec, withInTree);
  }
  for (const driver of drivers) {
    await yieldIfDue();
    const audiences = await audiencesOfDriver(request, driver);
    if ("fault" in audiences) faults.push(audiences.fault);
    else if (audiences.includes(audience)) return undefined;
  }
  return faults.slice(0, maxFaults);
}

/** Adds the CSI driver of a volume of a pod, or of a persistent volume, if it has one. */
function addDriver(drivers: Set<string>, volume: DriverVolume, withInTree: boolean): void {
  const inTree = withInTree ? inTreeDrivers.find(([field]) => isSet(volume[field])) : undefined;
  const driver = isSet(volume.csi) ? volume.csi?.driver : inTree?.[1];
  if (driver !== undefined) drivers.add(driver);
}

interface Fault {
  readonly fault: string;
}

async function volumeOfClaim(
  { objects, target }: AgentRequest,
  name: string,
): Promise<Fault | { readonly spec: DriverVolume }> {
  const claim = await objects.core("persistentvolumeclaims", target.namespace, name);
  if (claim === undefined) return { fault: `persistentvolumeclaim "${name}" not found` };
  const { volumeName = "" } = claim["spec"] as { readonly volumeName?: string };
  const volume = await objects.core("persistentvolumes", "", volumeName);
  if (volume === undefined) return { fault: `persistentvolume "${volumeName}" not found` };
  return { spec: volume["spec"] as DriverVolume };
}

async function audiencesOfDriver(
  { objects, vocabulary }: AgentRequest,
  name: string,
): Promise<Fault | readonly string[]> {
  const driver = await objects.clusterScoped(groupName(storage, vocabulary), "csidrivers", name);
  if (driver === undefined) return { fault: `csidriver "${name}" not found` };
  const { tokenRequests } = driver["spec"] as {
    readonly tokenRequests?: readonly { readonly audience?: string }[] | null;
  };
  return (tokenRequests ?? []).map(({ audience = "" }) => audience);
}
