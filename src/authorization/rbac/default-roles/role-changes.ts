import { gate, type Released, Row, rowOf, since, until } from "../../../base/release-rows.ts";
import type { Release } from "../../../base/releases.ts";
import type { Rule } from "../policy.ts";
import { allow, allowPaths, read, write, type PolicyNames } from "./declare.ts";
import { newControllers } from "./new-controllers.ts";
import type { RoleChange } from "./role-change.ts";

/** Changes by scope, each list in the order of the releases. */
export interface RoleChanges {
  readonly cluster: readonly Row<RoleChange>[];
  readonly "system namespace": readonly Row<RoleChange>[];
}

const dynamicResources = "DynamicResourceAllocation";

/** Returns the changes of the default roles after the reference release. Roles for kinds that the server doesn't have are left out. */
export function roleChanges(names: PolicyNames): RoleChanges {
  return {
    cluster: [
      ...userRoleChanges(names),
      ...nodeChanges(names),
      ...schedulerChanges(names),
      ...componentChanges(names),
      ...controllerChanges(names),
      ...watchChanges(names),
      ...newControllers(names),
    ],
    "system namespace": leaderElectionChanges(names),
  };
}

function userRoleChanges({ prefix, resource, events, certificates, group }: PolicyNames): Row<RoleChange>[] {
  const edit = `${prefix}aggregate-to-edit`;
  const view = `${prefix}aggregate-to-view`;
  const claims = "resourceclaims resourceclaimtemplates";
  const bundles = `${prefix}cluster-trust-bundle-discovery`;
  const viewClaims = allow(read, resource, `resourceclaims/status ${claims}`);
  return [
    since("1.33", gate(dynamicResources, { role: edit, added: [allow(write, resource, claims)] })),
    since("1.33", gate(dynamicResources, { role: view, added: [viewClaims] })),
    since("1.35", { role: edit, added: [allow(write, events, "events")] }),
    since("1.35", { role: view, added: [allow(read, events, "events")] }),
    since(
      "1.27",
      gate("ClusterTrustBundle", {
        role: bundles,
        added: [allow(read, certificates, "clustertrustbundles")],
        subjects: [group("serviceaccounts")],
      }),
    ),
  ];
}

function nodeChanges({
  prefix,
  core,
  resource,
  certificates,
  events,
  storage,
}: PolicyNames): Row<RoleChange>[] {
  const change = (...added: Rule[]): RoleChange => ({ role: `${prefix}node`, added });
  return [
    since("1.27", gate(dynamicResources, change(allow("get", resource, "resourceclaims")))),
    since("1.27", gate("ClusterTrustBundle", change(allow(read, certificates, "clustertrustbundles")))),
    since("1.31", gate(dynamicResources, change(allow("deletecollection", resource, "resourceslices")))),
    since(
      "1.33",
      gate("KubeletServiceAccountTokenForCredentialProviders", change(allow("get", core, "serviceaccounts"))),
    ),
    since(
      "1.34",
      gate("PodCertificateRequest", change(allow(`create ${read}`, certificates, "podcertificaterequests"))),
    ),
    since("1.35", change(allow("create update patch", events, "events"))),
    since("1.37", gate("CSIVolumeHealth", change(allow("get update patch", storage, "csinodes/status")))),
  ];
}

function schedulerChanges(names: PolicyNames): Row<RoleChange>[] {
  const { prefix, core, coordination, resource, storage, scheduler } = names;
  const role = `${prefix}${scheduler}`;
  const readUpdate = `${read} patch update`;
  const lock = [allow("create", core, "endpoints"), allow("get update", core, "endpoints", [scheduler])];
  return [
    since("1.28", { role, removed: lock }),
    since("1.31", {
      role,
      added: [
        allow(`${read} ${write}`, coordination, "leasecandidates"),
        allow("list watch", coordination, "leases", [scheduler]),
      ],
    }),
    since(
      "1.31",
      gate(dynamicResources, {
        role,
        added: [
          allow(read, resource, "deviceclasses resourceslices"),
          allow(readUpdate, resource, "resourceclaims resourceclaims/status"),
        ],
      }),
    ),
    since(
      "1.31",
      until("1.34", gate(dynamicResources, { role, added: [allow(readUpdate, core, "pods/finalizers")] })),
    ),
    since("1.32", { role, added: [allow(read, storage, "volumeattachments")] }),
    since(
      "1.33",
      until("1.35", gate("DRADeviceTaints", { role, added: [allow(read, resource, "devicetaintrules")] })),
    ),
    since("1.34", gate(dynamicResources, { role, added: [allow("update", core, "pods/finalizers")] })),
    since(
      "1.34",
      gate("DRAExtendedResource", { role, added: [allow("create delete", resource, "resourceclaims")] }),
    ),
    since("1.35", gate("DRADeviceTaintRules", { role, added: [allow(read, resource, "devicetaintrules")] })),
    since(
      "1.36",
      gate("DRAResourceClaimGranularStatusAuthorization", {
        role,
        added: [allow("update patch", resource, "resourceclaims/binding")],
      }),
    ),
  ];
}

function componentChanges(names: PolicyNames): Row<RoleChange>[] {
  const { prefix, core, networking, controllerManager, nodeAgentApiAdmin } = names;
  const agentAdmin = `${prefix}${nodeAgentApiAdmin}`;
  const monitoring = `${prefix}monitoring`;
  const issuer = `${prefix}service-account-issuer-discovery`;
  const lock = [
    allow("create", core, "endpoints"),
    allow("get update", core, "endpoints", [controllerManager]),
  ];
  return [
    since("1.27", { role: agentAdmin, removed: [allow("*", core, "nodes/spec")] }),
    since("1.28", { role: `${prefix}${controllerManager}`, removed: lock }),
    since("1.28", {
      role: issuer,
      added: [allowPaths("get", "/.well-known/openid-configuration/ /openid/v1/jwks/")],
    }),
    since(
      "1.31",
      gate("MultiCIDRServiceAllocator", {
        role: `${prefix}node-proxier`,
        added: [allow("list watch", networking, "servicecidrs")],
      }),
    ),
    since(
      "1.32",
      gate("KubeletFineGrainedAuthz", {
        role: agentAdmin,
        added: [allow("*", core, "nodes/pods nodes/healthz nodes/configz")],
      }),
    ),
    since("1.32", gate("ComponentFlagz", { role: monitoring, added: [allowPaths("get", "/flagz")] })),
    since("1.32", gate("ComponentStatusz", { role: monitoring, added: [allowPaths("get", "/statusz")] })),
    since("1.34", { role: monitoring, added: [allow("get", core, "nodes/metrics")] }),
  ];
}

function controllerChanges({
  prefix,
  core,
  coordination,
  networking,
  storage,
}: PolicyNames): Row<RoleChange>[] {
  const change = (
    release: Release,
    controller: string,
    rules: Released<Pick<RoleChange, "added" | "removed">>,
  ): Row<RoleChange> => {
    const { value, until: end, gate: name } = rowOf(rules);
    return new Row({ role: `${prefix}controller:${controller}`, ...value }, release, end, name);
  };
  const statefulSets = "statefulset-controller";
  const deletesClaims = "StatefulSetAutoDeletePVC";
  const binder = "persistent-volume-binder";
  return [
    change(
      "1.27",
      statefulSets,
      gate(deletesClaims, { added: [allow("delete update", core, "persistentvolumeclaims")] }),
    ),
    change("1.28", statefulSets, { added: [allow("list watch", core, "persistentvolumeclaims")] }),
    change("1.28", statefulSets, gate(deletesClaims, { added: [allow("update", core, "pods/finalizers")] })),
    change("1.30", "node-controller", {
      removed: [allow("create get list update", networking, "clustercidrs")],
    }),
    change("1.32", "expand-controller", {
      removed: [allow("get", core, "endpoints secrets"), allow(read, storage, "storageclasses")],
    }),
    change("1.32", binder, {
      removed: [
        allow("create delete", core, "services"),
        allow("create delete get update", core, "endpoints"),
        allow("get", core, "nodes secrets"),
      ],
    }),
    change("1.36", "expand-controller", { removed: [allow("get", core, "services")] }),
    change("1.36", binder, { removed: [allow("get", core, "services")] }),
    change("1.36", "pvc-protection-controller", {
      added: [allow("update", core, "persistentvolumeclaims/status")],
    }),
    change("1.37", "node-controller", { added: [allow(read, coordination, "leases")] }),
  ];
}

/** Controllers that list resources also watch them, 1.32 on. */
function watchChanges(names: PolicyNames): Row<RoleChange>[] {
  const { prefix, core, metrics, customMetrics, externalMetrics } = names;
  const rules: readonly (readonly [controller: string, ...rules: Rule[]])[] = [
    [
      "horizontal-pod-autoscaler",
      allow("watch", core, "pods"),
      allow("watch", customMetrics, "*"),
      allow("watch", externalMetrics, "*"),
      allow("watch", metrics, "pods"),
    ],
    ["namespace-controller", allow("watch", "*", "*")],
    ["node-controller", allow("watch", core, "nodes pods")],
    ["persistent-volume-binder", allow("watch", core, "nodes")],
    ["pod-garbage-collector", allow("watch", core, "nodes")],
  ];
  return rules.map(([controller, ...added]) =>
    since("1.32", { role: `${prefix}controller:${controller}`, added }),
  );
}

function leaderElectionChanges(names: PolicyNames): Row<RoleChange>[] {
  const { prefix, core, coordination, account, controllerManager, scheduler } = names;
  return [controllerManager, scheduler].flatMap((component): Row<RoleChange>[] => {
    const role = `${prefix}:leader-locking-${component}`;
    const electors =
      component === controllerManager ? { subjects: [account("leader-election-controller")] } : {};
    const leases = allow(`create ${read} update`, coordination, "leasecandidates leases");
    const lock = [allow("watch", core, "configmaps"), allow("get update", core, "configmaps", [component])];
    return [since("1.31", { role, added: [leases], ...electors }), since("1.35", { role, removed: lock })];
  });
}
