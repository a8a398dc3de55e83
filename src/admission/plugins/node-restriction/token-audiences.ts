import { isDeepStrictEqual } from "node:util";
import { isAtLeast, type Release } from "../../../base/releases.ts";
import type { Authorizer } from "../../../authorization/authorizer.ts";
import { storage } from "../../../kinds/groups.ts";
import { groupName, type ApiObject } from "../../../schema/kind.ts";
import { reject, type AgentRequest } from "./agent-request.ts";
import { isSet, volumesOf, type Volume } from "./volume-types.ts";

export interface AudienceRules {
  readonly release: Release;
  readonly authorizer: Authorizer;
  /** Audiences of tokens for the server, which are the default of token requests and of volumes. */
  readonly ownAudiences: readonly string[];
}

/**
 * An agent requests a token for one audience that a volume of the pod names, or for which the agent has the verb
 * `request-serviceaccounts-token-audience` (1.33 and later).
 */
export async function checkAudience(
  request: AgentRequest,
  pod: ApiObject,
  { release, authorizer, ownAudiences }: AudienceRules,
): Promise<void> {
  const { target, object, user } = request;
  const { audiences } = object!["spec"] as { readonly audiences?: readonly string[] | null };
  const byDefault = isDeepStrictEqual(audiences ?? [], ownAudiences);
  if (!byDefault && (audiences ?? []).length > 1) reject(request, "node may only request 0 or 1 audiences");
  const audience = audiences?.[0] ?? "";
  const isRequested = (one = "") => one === audience || (byDefault && one === "");
  const quoted = JSON.stringify(audience);
  const withInTree = isAtLeast(release, "1.33");
  const faults: string[] = [];
  for (const volume of volumesOf(pod)) {
    const sources = volume.projected?.sources ?? [];
    if (sources.some(({ serviceAccountToken: token }) => isSet(token) && isRequested(token?.audience)))
      return;
    const driver = await driverOf(request, pod, volume, withInTree);
    if (driver === undefined) continue;
    const audiencesOfDriver = "fault" in driver ? driver : await driverAudiences(request, driver.name);
    if ("fault" in audiencesOfDriver) faults.push(audiencesOfDriver.fault);
    else if (audiencesOfDriver.audiences.some(isRequested)) return;
  }
  if (faults.length > 0) reject(request, `error validating audience ${quoted}: ${faults.join(", ")}`);
  if (!withInTree) reject(request, `audience ${quoted} not found in pod spec volume`);
  const { verdict } = await authorizer.authorize({
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

interface Fault {
  readonly fault: string;
}

type Driver = { readonly name: string } | Fault;

function inTreeDriver(volume: Readonly<Record<string, unknown>>): Driver | undefined {
  const driver = inTreeDrivers.find(([field]) => isSet(volume[field]));
  return driver && { name: driver[1] };
}

/** Returns the CSI driver of a volume, if it has one. */
async function driverOf(
  request: AgentRequest,
  pod: ApiObject,
  volume: Volume,
  withInTree: boolean,
): Promise<Driver | undefined> {
  if (isSet(volume["ephemeral"]))
    return driverOfClaim(request, `${pod.metadata.name ?? ""}-${volume.name}`, withInTree);
  const claim = volume.persistentVolumeClaim;
  if (isSet(claim)) return driverOfClaim(request, claim?.claimName ?? "", withInTree);
  if (isSet(volume.csi)) return { name: volume.csi?.driver ?? "" };
  return withInTree ? inTreeDriver(volume) : undefined;
}

async function driverOfClaim(
  { objects, target }: AgentRequest,
  name: string,
  withInTree: boolean,
): Promise<Driver | undefined> {
  const claim = await objects.core("persistentvolumeclaims", target.namespace, name);
  if (claim === undefined) return { fault: `persistentvolumeclaim "${name}" not found` };
  const { volumeName = "" } = claim["spec"] as { readonly volumeName?: string };
  const volume = await objects.core("persistentvolumes", "", volumeName);
  if (volume === undefined) return { fault: `persistentvolume "${volumeName}" not found` };
  const spec = volume["spec"] as Volume;
  if (isSet(spec.csi)) return { name: spec.csi?.driver ?? "" };
  return withInTree ? inTreeDriver(spec) : undefined;
}

async function driverAudiences(
  { objects, vocabulary }: AgentRequest,
  name: string,
): Promise<Fault | { readonly audiences: readonly string[] }> {
  const driver = await objects.clusterScoped(groupName(storage, vocabulary), "csidrivers", name);
  if (driver === undefined) return { fault: `csidriver "${name}" not found` };
  const { tokenRequests } = driver["spec"] as {
    readonly tokenRequests?: readonly { readonly audience?: string }[] | null;
  };
  return { audiences: (tokenRequests ?? []).map(({ audience = "" }) => audience) };
}
