import type { Domain, GroupSuffix } from "./names.ts";
import { specifiedBehavior } from "./behavior.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** The neutral names of the specification; the default. */
export const platform: Vocabulary = {
  name: "platform",
  groupSuffix: "platform.io" as GroupSuffix,
  domain: "platform.io" as Domain,
  protobufMediaType: "application/vnd.platform.protobuf",
  schemaExtensionPrefix: "x-platform-",
  systemNamespace: "platform-system",
  publicNamespace: "platform-public",
  nodeLeaseNamespace: "platform-node-lease",
  apiServiceName: "platform",
  rootAuthorityConfigMap: "root-ca.crt",
  tokenVolumePrefix: "api-access-",
  namespaceFinalizer: "platform",
  systemPrefix: "system:",
  serviceAccountIssuer: "https://platform.default.svc.cluster.local",
  legacyTokenIssuer: "platform/serviceaccount",
  components: {
    apiServer: "apiserver",
    controllerManager: "controller-manager",
    scheduler: "scheduler",
    proxy: "proxy",
    dns: "dns",
    aggregator: "aggregator",
    nodeAgentApiAdmin: "agent-api-admin",
    nodeAgentServing: "agent-serving",
    nodeAgentClient: "apiserver-client-agent",
    apiServerClient: "apiserver-client",
    metricsCollector: "metrics-collector",
  },
  aggregateToLabelPrefix: "rbac.authorization.platform.io/aggregate-to-",
  autoUpdateAnnotation: "rbac.authorization.platform.io/autoupdate",
  bootstrappingLabel: "platform.io/bootstrapping",
  behavior: specifiedBehavior,
  flowHeaderPrefix: "X-Platform-PF-",
};
