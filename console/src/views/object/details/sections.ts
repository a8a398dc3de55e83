import type { ComponentType } from "preact";
import { AccountAccess, Binding, Rules } from "./access.tsx";
import { DefinedKind, NamespaceContents } from "./cluster.tsx";
import { ConfigData, SecretData } from "./data.tsx";
import { SelectedPods } from "./selected.tsx";
import type { DetailProps } from "./section.tsx";
import { Containers, IngressRules, Replicas, ServicePorts } from "./workloads.tsx";

/** The sections of a kind, and the fields that they show completely. */
export interface KindSections {
  readonly sections: readonly ComponentType<DetailProps>[];
  readonly shows?: readonly string[];
}

const role: KindSections = { sections: [Rules], shows: ["rules"] };
const binding: KindSections = { sections: [Binding], shows: ["roleRef", "subjects"] };
const workload: KindSections = { sections: [Replicas, Containers, SelectedPods] };
const selecting: KindSections = { sections: [SelectedPods] };

/** Sections by group (without the suffix of the server's groups) and kind. All other kinds are shown by their fields, schema and columns. */
export const sectionsByKind: Readonly<Record<string, KindSections>> = {
  "/ConfigMap": { sections: [ConfigData], shows: ["data", "binaryData"] },
  "/Namespace": { sections: [NamespaceContents] },
  "/Pod": { sections: [Containers] },
  "/ReplicationController": workload,
  "/Secret": { sections: [SecretData], shows: ["data", "type"] },
  "/Service": { sections: [ServicePorts, SelectedPods] },
  "/ServiceAccount": { sections: [AccountAccess] },
  "apiextensions/CustomResourceDefinition": { sections: [DefinedKind] },
  "apps/DaemonSet": workload,
  "apps/Deployment": workload,
  "apps/ReplicaSet": workload,
  "apps/StatefulSet": workload,
  "batch/CronJob": { sections: [Containers] },
  "batch/Job": { sections: [Containers, SelectedPods] },
  "networking/Ingress": { sections: [IngressRules] },
  "networking/NetworkPolicy": selecting,
  "policy/PodDisruptionBudget": selecting,
  "rbac.authorization/ClusterRole": role,
  "rbac.authorization/ClusterRoleBinding": binding,
  "rbac.authorization/Role": role,
  "rbac.authorization/RoleBinding": binding,
};
