import type { Domain, GroupSuffix } from "./names.ts";
import { referenceBehavior } from "./behavior.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** The names of the reference, letter for letter, so that its clients work unchanged. */
export const kubernetes: Vocabulary = {
  name: "kubernetes",
  groupSuffix: "k8s.io" as GroupSuffix,
  domain: "kubernetes.io" as Domain,
  protobufMediaType: "application/vnd.kubernetes.protobuf",
  schemaExtensionPrefix: "x-kubernetes-",
  systemNamespace: "kube-system",
  publicNamespace: "kube-public",
  nodeLeaseNamespace: "kube-node-lease",
  apiServiceName: "kubernetes",
  rootAuthorityConfigMap: "kube-root-ca.crt",
  tokenVolumePrefix: "kube-api-access-",
  namespaceFinalizer: "kubernetes",
  systemPrefix: "system:",
  serviceAccountIssuer: "https://kubernetes.default.svc.cluster.local",
  legacyTokenIssuer: "kubernetes/serviceaccount",
  components: {
    apiServer: "kube-apiserver",
    controllerManager: "kube-controller-manager",
    scheduler: "kube-scheduler",
    proxy: "kube-proxy",
    dns: "kube-dns",
    aggregator: "kube-aggregator",
    nodeAgentApiAdmin: "kubelet-api-admin",
    nodeAgentServing: "kubelet-serving",
    nodeAgentClient: "kube-apiserver-client-kubelet",
    apiServerClient: "kube-apiserver-client",
    metricsCollector: "heapster",
  },
  aggregateToLabelPrefix: "rbac.authorization.k8s.io/aggregate-to-",
  autoUpdateAnnotation: "rbac.authorization.kubernetes.io/autoupdate",
  bootstrappingLabel: "kubernetes.io/bootstrapping",
  clientSideApply: {
    annotation: "kubectl.kubernetes.io/last-applied-configuration",
    manager: "kubectl",
  },
  behavior: referenceBehavior,
  flowHeaderPrefix: "X-Kubernetes-PF-",
};
