import { struct } from "../v1.ts";
import { field, string } from "../../../schema/types.ts";

const ConfigMapNodeConfigSource = struct(
  "ConfigMapNodeConfigSource",
  "Deprecated: a config map with the configuration of node agents.",
  {
    namespace: field(1, string, "Namespace of the config map.").declaredRequired(),
    name: field(2, string, "Name of the config map.").declaredRequired(),
    uid: field(3, string, "Unique identifier of the config map; not allowed in a node's spec."),
    resourceVersion: field(4, string, "Version of the config map; not allowed in a node's spec."),
    kubeletConfigKey: field(5, string, "Key of the configuration in the ConfigMap.").declaredRequired(),
  },
);

export const NodeConfigSource = struct(
  "NodeConfigSource",
  "Deprecated: a source of a node's configuration; exactly one must be named.",
  {
    configMap: field(2, ConfigMapNodeConfigSource, "A config map as the source.").nullable(),
  },
);

export const NodeConfigStatus = struct(
  "NodeConfigStatus",
  "Deprecated: what became of the configuration that was given to a node.",
  {
    assigned: field(1, NodeConfigSource, "The configuration that the node is going to use.").nullable(),
    active: field(2, NodeConfigSource, "The configuration that the node uses now.").nullable(),
    lastKnownGood: field(3, NodeConfigSource, "The configuration that the node falls back on.").nullable(),
    error: field(4, string, "What went wrong with the assigned configuration."),
  },
);
