import {
  allow,
  read,
  recordEvents,
  type BindingDeclaration,
  type RoleDeclaration,
  type Words,
} from "./declare.ts";

/** The ClusterRoles of the cluster's components: node agents, scheduler, controller manager, proxy, DNS and so on. */
export function componentRoles(words: Words): RoleDeclaration[] {
  const { prefix, core, storage, certificates } = words;
  return [
    { name: `${prefix}node`, rules: nodeRules(words) },
    { name: `${prefix}node-proxier`, rules: nodeProxierRules(words) },
    { name: `${prefix}${words.scheduler}`, rules: schedulerRules(words) },
    { name: `${prefix}${words.controllerManager}`, rules: controllerManagerRules(words) },
    { name: `${prefix}${words.dns}`, rules: [allow("list watch", core, "endpoints services")] },
    { name: `${prefix}${words.aggregator}`, rules: [allow(read, core, "services endpoints")] },
    {
      name: `${prefix}${words.metricsCollector}`,
      rules: [
        allow(read, core, "events pods nodes namespaces"),
        allow(read, words.extensions, "deployments"),
      ],
    },
    {
      name: `${prefix}node-problem-detector`,
      rules: [allow("get", core, "nodes"), allow("patch", core, "nodes/status"), recordEvents(words)],
    },
    {
      name: `${prefix}${words.nodeAgentApiAdmin}`,
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
    { name: `${prefix}auth-delegator`, rules: delegatedChecks(words) },
    {
      name: `${prefix}persistent-volume-provisioner`,
      rules: [
        allow(`${read} create delete`, core, "persistentvolumes"),
        allow(`${read} update`, core, "persistentvolumeclaims"),
        allow(read, storage, "storageclasses"),
        allow("watch", core, "events"),
        recordEvents(words),
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
    ...certificateRoles(words),
  ];
}

/** Who has the roles of {@link componentRoles} from the start. */
export function componentBindings(words: Words): BindingDeclaration[] {
  const { prefix, user, account } = words;
  const bind = (role: string, ...subjects: BindingDeclaration["subjects"]) => {
    const name = prefix + role;
    return { name, role: name, subjects };
  };
  return [
    // Nobody: nodes are authorized one by one. The binding stays, so that one made by an older release loses its group.
    bind("node"),
    bind("node-proxier", user(words.proxy)),
    bind(words.controllerManager, user(words.controllerManager)),
    bind(words.dns, account(words.dns)),
    bind(words.scheduler, user(words.scheduler)),
    bind("volume-scheduler", user(words.scheduler)),
  ];
}

/** What node agents may do, but for what depends on their pods; also the rules of the mode Node. */
export function nodeRules(words: Words): RoleDeclaration["rules"] {
  const { core, authentication, authorization, certificates, coordination, storage, node } = words;
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

function nodeProxierRules(words: Words): RoleDeclaration["rules"] {
  return [
    allow("list watch", words.core, "services endpoints"),
    allow(read, words.core, "nodes"),
    recordEvents(words),
    allow("list watch", words.discovery, "endpointslices"),
  ];
}

function schedulerRules(words: Words): RoleDeclaration["rules"] {
  const { core, apps, extensions, policy, storage } = words;
  return [
    recordEvents(words),
    ...leaderElection(words, words.scheduler),
    allow(read, core, "nodes"),
    allow(`${read} delete`, core, "pods"),
    allow("create", core, "pods/binding bindings"),
    allow("patch update", core, "pods/status"),
    allow(read, core, "services replicationcontrollers"),
    allow(read, [apps, extensions], "replicasets"),
    allow(read, apps, "statefulsets"),
    allow(read, policy, "poddisruptionbudgets"),
    allow(read, core, "persistentvolumeclaims persistentvolumes"),
    ...delegatedChecks(words),
    allow(read, storage, "csinodes"),
    allow(read, core, "namespaces"),
    allow(read, storage, "csidrivers"),
    allow(read, storage, "csistoragecapacities"),
  ];
}

function controllerManagerRules(words: Words): RoleDeclaration["rules"] {
  const { core } = words;
  return [
    recordEvents(words),
    ...leaderElection(words, words.controllerManager),
    allow("create", core, "secrets serviceaccounts"),
    allow("delete", core, "secrets"),
    allow("get", core, "namespaces secrets serviceaccounts configmaps"),
    allow("update", core, "secrets serviceaccounts"),
    ...delegatedChecks(words),
    allow("list watch", "*", "*"),
    allow("create", core, "serviceaccounts/token"),
  ];
}

/** The right to hold the lock of a component's leader, in both places where it may be kept. */
function leaderElection({ core, coordination }: Words, component: string): RoleDeclaration["rules"] {
  return [
    allow("create", coordination, "leases"),
    allow("get update", coordination, "leases", [component]),
    allow("create", core, "endpoints"),
    allow("get update", core, "endpoints", [component]),
  ];
}

/** The right to have callers recognized and authorized by this server; nothing is changed by it. */
function delegatedChecks({ authentication, authorization }: Words): RoleDeclaration["rules"] {
  return [
    allow("create", authentication, "tokenreviews"),
    allow("create", authorization, "subjectaccessreviews"),
  ];
}

function certificateRoles(words: Words): RoleDeclaration[] {
  const { prefix, certificates, signer } = words;
  const own = `${prefix}${certificates}`;
  const requests = (kind: string): RoleDeclaration => ({
    name: `${own}:certificatesigningrequests:${kind}`,
    rules: [allow("create", certificates, `certificatesigningrequests/${kind}`)],
  });
  const approver = (name: string): RoleDeclaration => ({
    name: `${own}:${name}-approver`,
    rules: [allow("approve", certificates, "signers", [signer(name)])],
  });
  return [
    requests("nodeclient"),
    requests("selfnodeclient"),
    approver("legacy-unknown"),
    approver(words.nodeAgentServing),
    approver(words.apiServerClient),
    approver(words.nodeAgentClient),
  ];
}
