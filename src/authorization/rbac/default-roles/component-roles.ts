import {
  allow,
  read,
  recordEvents,
  type BindingDeclaration,
  type RoleDeclaration,
  type PolicyNames,
} from "./declare.ts";

/** Returns the ClusterRoles of cluster components: node agents, scheduler, controller manager, proxy, DNS and others. */
export function componentRoles(names: PolicyNames): RoleDeclaration[] {
  const { prefix, core, storage, certificates } = names;
  return [
    { name: `${prefix}node`, rules: nodeRules(names) },
    { name: `${prefix}node-proxier`, rules: nodeProxierRules(names) },
    { name: `${prefix}${names.scheduler}`, rules: schedulerRules(names) },
    { name: `${prefix}${names.controllerManager}`, rules: controllerManagerRules(names) },
    { name: `${prefix}${names.dns}`, rules: [allow("list watch", core, "endpoints services")] },
    { name: `${prefix}${names.aggregator}`, rules: [allow(read, core, "services endpoints")] },
    {
      name: `${prefix}${names.metricsCollector}`,
      rules: [
        allow(read, core, "events pods nodes namespaces"),
        allow(read, names.extensions, "deployments"),
      ],
    },
    {
      name: `${prefix}node-problem-detector`,
      rules: [allow("get", core, "nodes"), allow("patch", core, "nodes/status"), recordEvents(names)],
    },
    {
      name: `${prefix}${names.nodeAgentApiAdmin}`,
      rules: [
        allow(read, core, "nodes"),
        allow("proxy", core, "nodes"),
        allow("*", core, "nodes/proxy nodes/metrics nodes/spec nodes/stats nodes/log"),
      ],
    },
    {
      name: `${prefix}node-bootstrapper`,
      rules: [allow(`create ${read}`, certificates, "certificatesigningrequests")],
    },
    { name: `${prefix}auth-delegator`, rules: delegatedChecks(names) },
    {
      name: `${prefix}persistent-volume-provisioner`,
      rules: [
        allow(`${read} create delete`, core, "persistentvolumes"),
        allow(`${read} update`, core, "persistentvolumeclaims"),
        allow(read, storage, "storageclasses"),
        allow("watch", core, "events"),
        recordEvents(names),
      ],
    },
    {
      name: `${prefix}volume-scheduler`,
      rules: [
        allow(`${read} patch update`, core, "persistentvolumes"),
        allow(read, storage, "storageclasses"),
        allow(`${read} patch update`, core, "persistentvolumeclaims"),
      ],
    },
    ...certificateRoles(names),
  ];
}

/** Returns the default bindings of {@link componentRoles}. */
export function componentBindings(names: PolicyNames): BindingDeclaration[] {
  const { prefix, user, account } = names;
  const bind = (role: string, ...subjects: BindingDeclaration["subjects"]) => {
    const name = prefix + role;
    return { name, role: name, subjects };
  };
  return [
    // No subjects: the Node authorizer decides for nodes. Kubernetes has the same empty binding.
    bind("node"),
    bind("node-proxier", user(names.proxy)),
    bind(names.controllerManager, user(names.controllerManager)),
    bind(names.dns, account(names.dns)),
    bind(names.scheduler, user(names.scheduler)),
    bind("volume-scheduler", user(names.scheduler)),
  ];
}

/** Returns the rules of node agents, which the mode Node also uses. Permissions that depend on pods are not included. */
export function nodeRules(names: PolicyNames): RoleDeclaration["rules"] {
  const { core, authentication, authorization, certificates, coordination, storage, node } = names;
  return [
    allow("create", authentication, "tokenreviews"),
    allow("create", authorization, "subjectaccessreviews localsubjectaccessreviews"),
    allow(read, core, "services"),
    allow(`create ${read}`, core, "nodes"),
    allow("update patch", core, "nodes/status"),
    allow("update patch", core, "nodes"),
    allow("create update patch", core, "events"),
    allow(read, core, "pods"),
    allow("create delete", core, "pods"),
    allow("update patch", core, "pods/status"),
    allow("create", core, "pods/eviction"),
    allow(read, core, "secrets configmaps"),
    allow("get", core, "persistentvolumeclaims persistentvolumes"),
    allow("get", core, "endpoints"),
    allow(`create ${read}`, certificates, "certificatesigningrequests"),
    allow("get create update patch delete", coordination, "leases"),
    allow("get", storage, "volumeattachments"),
    allow("create", core, "serviceaccounts/token"),
    allow("get update patch", core, "persistentvolumeclaims/status"),
    allow(read, storage, "csidrivers"),
    allow("get create update patch delete", storage, "csinodes"),
    allow(read, node, "runtimeclasses"),
  ];
}

function nodeProxierRules(names: PolicyNames): RoleDeclaration["rules"] {
  return [
    allow("list watch", names.core, "services endpoints"),
    allow(read, names.core, "nodes"),
    recordEvents(names),
    allow("list watch", names.discovery, "endpointslices"),
  ];
}

function schedulerRules(names: PolicyNames): RoleDeclaration["rules"] {
  const { core, apps, extensions, policy, storage } = names;
  return [
    recordEvents(names),
    ...leaderElection(names, names.scheduler),
    allow(read, core, "nodes"),
    allow(`${read} delete`, core, "pods"),
    allow("create", core, "pods/binding bindings"),
    allow("patch update", core, "pods/status"),
    allow(read, core, "services replicationcontrollers"),
    allow(read, [apps, extensions], "replicasets"),
    allow(read, apps, "statefulsets"),
    allow(read, policy, "poddisruptionbudgets"),
    allow(read, core, "persistentvolumeclaims persistentvolumes"),
    ...delegatedChecks(names),
    allow(read, storage, "csinodes"),
    allow(read, core, "namespaces"),
    allow(read, storage, "csidrivers"),
    allow(read, storage, "csistoragecapacities"),
  ];
}

function controllerManagerRules(names: PolicyNames): RoleDeclaration["rules"] {
  const { core } = names;
  return [
    recordEvents(names),
    ...leaderElection(names, names.controllerManager),
    allow("create", core, "secrets serviceaccounts"),
    allow("delete", core, "secrets"),
    allow("get", core, "namespaces secrets serviceaccounts configmaps"),
    allow("update", core, "secrets serviceaccounts"),
    ...delegatedChecks(names),
    allow("list watch", "*", "*"),
    allow("create", core, "serviceaccounts/token"),
  ];
}

/** Returns the rules for leader election of a component, by Lease or Endpoints. */
function leaderElection({ core, coordination }: PolicyNames, component: string): RoleDeclaration["rules"] {
  return [
    allow("create", coordination, "leases"),
    allow("get update", coordination, "leases", [component]),
    allow("create", core, "endpoints"),
    allow("get update", core, "endpoints", [component]),
  ];
}

/** Returns the rules for delegated authentication and authorization. */
function delegatedChecks({ authentication, authorization }: PolicyNames): RoleDeclaration["rules"] {
  return [
    allow("create", authentication, "tokenreviews"),
    allow("create", authorization, "subjectaccessreviews"),
  ];
}

function certificateRoles(names: PolicyNames): RoleDeclaration[] {
  const { prefix, certificates, signer } = names;
  const rolePrefix = `${prefix}${certificates}`;
  const requests = (kind: string): RoleDeclaration => ({
    name: `${rolePrefix}:certificatesigningrequests:${kind}`,
    rules: [allow("create", certificates, `certificatesigningrequests/${kind}`)],
  });
  const approver = (name: string): RoleDeclaration => ({
    name: `${rolePrefix}:${name}-approver`,
    rules: [allow("approve", certificates, "signers", [signer(name)])],
  });
  return [
    requests("nodeclient"),
    requests("selfnodeclient"),
    approver("legacy-unknown"),
    approver(names.nodeAgentServing),
    approver(names.apiServerClient),
    approver(names.nodeAgentClient),
  ];
}
