import type { Rule } from "../policy.ts";
import {
  allow,
  read,
  recordEvents,
  type BindingDeclaration,
  type RoleDeclaration,
  type PolicyNames,
} from "./declare.ts";

/** Returns the ClusterRole of each controller. */
export function controllerRoles(names: PolicyNames): RoleDeclaration[] {
  return Object.entries(rulesByController(names)).map(([controller, rules]) => ({
    name: `${names.prefix}controller:${controller}`,
    rules,
  }));
}

/** Returns the bindings of {@link controllerRoles}, each to the service account with the controller's name. */
export function controllerBindings(names: PolicyNames): BindingDeclaration[] {
  return Object.keys(rulesByController(names)).map((controller) => {
    const name = `${names.prefix}controller:${controller}`;
    return { name, role: name, subjects: [names.account(controller)] };
  });
}

function rulesByController(names: PolicyNames): Record<string, Rule[]> {
  return {
    ...replicaControllers(names),
    ...podControllers(names),
    ...networkControllers(names),
    ...volumeControllers(names),
    ...clusterControllers(names),
  };
}

function replicaControllers(names: PolicyNames): Record<string, Rule[]> {
  const { core, apps, extensions } = names;
  const events = recordEvents(names);
  return {
    "daemon-set-controller": [
      allow(read, [extensions, apps], "daemonsets"),
      allow("update", [extensions, apps], "daemonsets/status"),
      allow("update", [extensions, apps], "daemonsets/finalizers"),
      allow("list watch", core, "nodes"),
      allow("list watch create delete patch", core, "pods"),
      allow("create", core, "pods/binding"),
      allow(`${read} create delete update patch`, apps, "controllerrevisions"),
      events,
    ],
    "deployment-controller": [
      allow(`${read} update`, [extensions, apps], "deployments"),
      allow("update", [extensions, apps], "deployments/status"),
      allow("update", [extensions, apps], "deployments/finalizers"),
      allow(`${read} create update patch delete`, [apps, extensions], "replicasets"),
      allow(`${read} update`, core, "pods"),
      events,
    ],
    "replicaset-controller": [
      allow(`${read} update`, [apps, extensions], "replicasets"),
      allow("update", [apps, extensions], "replicasets/status"),
      allow("update", [apps, extensions], "replicasets/finalizers"),
      allow("list watch patch create delete", core, "pods"),
      events,
    ],
    "replication-controller": [
      allow(`${read} update`, core, "replicationcontrollers"),
      allow("update", core, "replicationcontrollers/status"),
      allow("update", core, "replicationcontrollers/finalizers"),
      allow("list watch patch create delete", core, "pods"),
      events,
    ],
    "statefulset-controller": [
      allow("list watch", core, "pods"),
      allow(read, apps, "statefulsets"),
      allow("update", apps, "statefulsets/status"),
      allow("update", apps, "statefulsets/finalizers"),
      allow("get create delete update patch", core, "pods"),
      allow(`${read} create delete update patch`, apps, "controllerrevisions"),
      allow("get create", core, "persistentvolumeclaims"),
      events,
    ],
  };
}

function podControllers(names: PolicyNames): Record<string, Rule[]> {
  const { core, apps, autoscaling, batch, extensions, policy } = names;
  const events = recordEvents(names);
  return {
    "cronjob-controller": [
      allow(`${read} update`, batch, "cronjobs"),
      allow(`${read} create update delete patch`, batch, "jobs"),
      allow("update", batch, "cronjobs/status"),
      allow("update", batch, "cronjobs/finalizers"),
      allow("list watch delete", core, "pods"),
      events,
    ],
    "disruption-controller": [
      allow(read, [extensions, apps], "deployments"),
      allow(read, [apps, extensions], "replicasets"),
      allow(read, core, "replicationcontrollers"),
      allow(read, policy, "poddisruptionbudgets"),
      allow(read, apps, "statefulsets"),
      allow("update", policy, "poddisruptionbudgets/status"),
      allow("patch update", core, "pods/status"),
      allow("get", "*", "*/scale"),
      events,
    ],
    "horizontal-pod-autoscaler": [
      allow(read, autoscaling, "horizontalpodautoscalers"),
      allow("update", autoscaling, "horizontalpodautoscalers/status"),
      allow("get update", "*", "*/scale"),
      allow("list", core, "pods"),
      allow("list", names.metrics, "pods"),
      allow("get list", names.customMetrics, "*"),
      allow("get list", names.externalMetrics, "*"),
      events,
    ],
    "job-controller": [
      allow(`${read} update patch`, batch, "jobs"),
      allow("update", batch, "jobs/status"),
      allow("update", batch, "jobs/finalizers"),
      allow("list watch create delete patch", core, "pods"),
      events,
    ],
    "pod-garbage-collector": [
      allow("list watch delete", core, "pods"),
      allow("get list", core, "nodes"),
      allow("patch", core, "pods/status"),
    ],
    "ttl-after-finished-controller": [allow(`${read} delete`, batch, "jobs"), events],
  };
}

function networkControllers(names: PolicyNames): Record<string, Rule[]> {
  const { core, discovery } = names;
  const events = recordEvents(names);
  return {
    "endpoint-controller": [
      allow(read, core, "services pods"),
      allow(`${read} create update delete`, core, "endpoints"),
      allow("create", core, "endpoints/restricted"),
      events,
    ],
    "endpointslice-controller": [
      allow(read, core, "services pods nodes"),
      allow("update", core, "services/finalizers"),
      allow(`${read} create update delete`, discovery, "endpointslices"),
      events,
    ],
    "endpointslicemirroring-controller": [
      allow(read, core, "services endpoints"),
      allow("update", core, "services/finalizers"),
      allow("update", core, "endpoints/finalizers"),
      allow(`${read} create update delete`, discovery, "endpointslices"),
      events,
    ],
    "route-controller": [allow("list watch", core, "nodes"), allow("patch", core, "nodes/status"), events],
    "service-controller": [
      allow(read, core, "services"),
      allow("patch update", core, "services/status"),
      allow("list watch", core, "nodes"),
      events,
    ],
  };
}

function volumeControllers(names: PolicyNames): Record<string, Rule[]> {
  const { core, storage } = names;
  const events = recordEvents(names);
  return {
    "attachdetach-controller": [
      allow("list watch", core, "persistentvolumes persistentvolumeclaims"),
      allow(read, core, "nodes"),
      allow("patch update", core, "nodes/status"),
      allow("list watch", core, "pods"),
      events,
      allow(`${read} create delete`, storage, "volumeattachments"),
      allow(read, storage, "csidrivers"),
      allow(read, storage, "csinodes"),
    ],
    "ephemeral-volume-controller": [
      allow(read, core, "pods"),
      allow("update", core, "pods/finalizers"),
      allow(`${read} create`, core, "persistentvolumeclaims"),
      events,
    ],
    "expand-controller": [
      allow(`${read} update patch`, core, "persistentvolumes"),
      allow("update patch", core, "persistentvolumeclaims/status"),
      allow(read, core, "persistentvolumeclaims"),
      allow(read, storage, "storageclasses"),
      allow("get", core, "services endpoints"),
      allow("get", core, "secrets"),
      events,
    ],
    "persistent-volume-binder": [
      allow(`${read} update create delete`, core, "persistentvolumes"),
      allow("update", core, "persistentvolumes/status"),
      allow(`${read} update`, core, "persistentvolumeclaims"),
      allow("update", core, "persistentvolumeclaims/status"),
      allow(`${read} create delete`, core, "pods"),
      allow(read, storage, "storageclasses"),
      allow("get create update delete", core, "endpoints"),
      allow("get create delete", core, "services"),
      allow("get", core, "secrets"),
      allow("get list", core, "nodes"),
      allow("watch", core, "events"),
      events,
    ],
    "pv-protection-controller": [allow(`${read} update`, core, "persistentvolumes"), events],
    "pvc-protection-controller": [
      allow(`${read} update`, core, "persistentvolumeclaims"),
      allow(read, core, "pods"),
      events,
    ],
  };
}

function clusterControllers(names: PolicyNames): Record<string, Rule[]> {
  const { core, authorization, certificates, networking, rbac, signer } = names;
  const events = recordEvents(names);
  const signers = [
    names.apiServerClient,
    names.nodeAgentClient,
    names.nodeAgentServing,
    "legacy-unknown",
  ].map(signer);
  return {
    "certificate-controller": [
      allow(`${read} delete`, certificates, "certificatesigningrequests"),
      allow("update", certificates, "certificatesigningrequests/status certificatesigningrequests/approval"),
      allow("approve", certificates, "signers", [signer(names.nodeAgentClient)]),
      allow("sign", certificates, "signers", signers),
      allow("create", authorization, "subjectaccessreviews"),
      events,
    ],
    "clusterrole-aggregation-controller": [allow(`escalate ${read} update patch`, rbac, "clusterroles")],
    "generic-garbage-collector": [allow(`${read} patch update delete`, "*", "*"), events],
    "namespace-controller": [
      allow(`${read} delete`, core, "namespaces"),
      allow("update", core, "namespaces/finalize namespaces/status"),
      allow("get list delete deletecollection", "*", "*"),
    ],
    "node-controller": [
      allow("get list update delete patch", core, "nodes"),
      allow("patch update", core, "nodes/status"),
      allow("patch update", core, "pods/status"),
      allow("list delete", core, "pods"),
      allow("get list create update", networking, "clustercidrs"),
      events,
      allow("get", core, "pods"),
    ],
    "resourcequota-controller": [
      allow("list watch", "*", "*"),
      allow("update", core, "resourcequotas/status"),
      events,
    ],
    "root-ca-cert-publisher": [allow("create update", core, "configmaps"), events],
    "service-account-controller": [allow("create", core, "serviceaccounts"), events],
    "ttl-controller": [allow("update patch list watch", core, "nodes"), events],
  };
}
