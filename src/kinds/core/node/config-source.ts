import { struct } from "../v1.ts";
import { field, string } from "../../../schema/types.ts";

const ConfigMapNodeConfigSource = struct(
  "ConfigMapNodeConfigSource",
  "Deprecated: a ConfigMap with the kubelet's configuration.",
  {
    namespace: field(1, string, "Namespace of the ConfigMap.").declaredRequired(),
    name: field(2, string, "Name of the ConfigMap.").declaredRequired(),
    uid: field(3, string, "UID of the ConfigMap; not allowed in a node's spec."),
    resourceVersion: field(4, string, "Resource version of the ConfigMap; not allowed in a node's spec."),
    kubeletConfigKey: field(5, string, "Key of the ConfigMap with the configuration.").declaredRequired(),
  },
);

export const NodeConfigSource = struct(
  "NodeConfigSource",
  "Deprecated: source of the kubelet's configuration; exactly one must be set.",
  {
    configMap: field(2, ConfigMapNodeConfigSource, "ConfigMap with the configuration.").nullable(),
  },
);

export const NodeConfigStatus = struct(
  "NodeConfigStatus",
  "Deprecated: status of the kubelet's configuration.",
  {
    assigned: field(1, NodeConfigSource, "Configuration that the node will use.").nullable(),
    active: field(2, NodeConfigSource, "Configuration that the node currently uses.").nullable(),
    lastKnownGood: field(
      3,
      NodeConfigSource,
      "Configuration that the node uses if the assigned one is invalid.",
    ).nullable(),
    error: field(4, string, "Problem of the assigned configuration."),
  },
);
