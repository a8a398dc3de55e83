import { since } from "../../../base/release-rows.ts";
import { LocalObjectReference } from "../references.ts";
import { atomicStruct, struct } from "../v1.ts";
import { descendingPath } from "../../checks/paths.ts";
import { dataKey, dnsLabel, dnsSubdomain, environmentName } from "../../checks/names.ts";
import { valueSources } from "./environment-rules.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { bool, field, inlined, quantity, string } from "../../../schema/types.ts";

export const ObjectFieldSelector = atomicStruct("ObjectFieldSelector", "A field of the pod.", {
  apiVersion: field(1, string, "API version of the field path. Default: v1.").unpublishedDefault("v1"),
  fieldPath: field(2, string, "Path of the field, such as `metadata.name`.").required(),
});

export const ResourceFieldSelector = atomicStruct(
  "ResourceFieldSelector",
  "A resource request or limit of a container.",
  {
    containerName: field(
      1,
      string,
      "Name of the container; required in volumes, optional in environment variables.",
    ),
    resource: field(2, string, "Name of the resource, such as `limits.cpu`.").required(),
    divisor: field(3, quantity, "Unit of the value, such as `1Mi`. Default: 1.").emitEmpty(),
  },
);

const ConfigMapKeySelector = atomicStruct(
  "ConfigMapKeySelector",
  "A key of a ConfigMap.",
  {
    ...inlined(1, LocalObjectReference),
    key: field(2, string, "Key in the ConfigMap.").required().check(dataKey),
    optional: field(3, bool, "Whether the ConfigMap or its key may be missing.").nullable(),
  },
  { check: (selector, report) => dnsSubdomain(selector.name ?? "", report.at("name")) },
);

const SecretKeySelector = atomicStruct(
  "SecretKeySelector",
  "A key of a Secret.",
  {
    ...inlined(1, LocalObjectReference),
    key: field(2, string, "Key in the Secret.").required().check(dataKey),
    optional: field(3, bool, "Whether the Secret or its key may be missing.").nullable(),
  },
  { check: (selector, report) => dnsSubdomain(selector.name ?? "", report.at("name")) },
);

const FileKeySelector = atomicStruct("FileKeySelector", "A variable in a file of environment variables.", {
  volumeName: field(1, string, "Name of the volume of the pod.").required().check(dnsLabel),
  path: field(2, string, "Path of the file in the volume, relative to its root.")
    .required()
    .check(descendingPath),
  key: field(3, string, "Name of the variable in the file.").required().check(environmentName),
  optional: field(4, bool, "Whether the file or its variable may be missing. Default: false.")
    .nullable()
    .default(false),
});

const EnvVarSource = struct(
  "EnvVarSource",
  "Source of the value of an environment variable; exactly one field is set.",
  {
    fieldRef: field(1, ObjectFieldSelector, "A field of the pod.").nullable(),
    resourceFieldRef: field(
      2,
      ResourceFieldSelector,
      "A resource request or limit of a container.",
    ).nullable(),
    configMapKeyRef: field(
      3,
      ConfigMapKeySelector,
      "A key of a ConfigMap in the pod's namespace.",
    ).nullable(),
    secretKeyRef: field(4, SecretKeySelector, "A key of a Secret in the pod's namespace.").nullable(),
  },
  {
    later: () => ({
      fileKeyRef: since(
        "1.34",
        field(5, FileKeySelector, "A variable in a file of one of the pod's volumes.")
          .nullable()
          .gated("EnvFiles"),
      ),
    }),
  },
);

export const EnvVar = struct(
  "EnvVar",
  "An environment variable.",
  {
    name: field(1, string, "Name of the variable.").required().check(environmentName),
    value: field(2, string, "Value; `$(NAME)` is expanded from earlier variables. Default: empty."),
    valueFrom: field(3, EnvVarSource, "Source of the value; not together with `value`.").nullable(),
  },
  { check: valueSources },
);

function namedSource(source: { readonly name?: string | undefined }, report: FieldReport): void {
  if ((source.name ?? "") === "") report.at("name").required();
  else dnsSubdomain(source.name ?? "", report.at("name"));
}

const ConfigMapEnvSource = struct(
  "ConfigMapEnvSource",
  "A ConfigMap whose keys become environment variables.",
  {
    ...inlined(1, LocalObjectReference),
    optional: field(2, bool, "Whether the ConfigMap may be missing.").nullable(),
  },
  { check: namedSource },
);

const SecretEnvSource = struct(
  "SecretEnvSource",
  "A Secret whose keys become environment variables.",
  {
    ...inlined(1, LocalObjectReference),
    optional: field(2, bool, "Whether the Secret may be missing.").nullable(),
  },
  { check: namedSource },
);

export const EnvFromSource = struct("EnvFromSource", "A source of several environment variables.", {
  prefix: field(1, string, "Prefix of the names of the variables.").check(environmentName),
  configMapRef: field(2, ConfigMapEnvSource, "ConfigMap whose keys become environment variables.").nullable(),
  secretRef: field(3, SecretEnvSource, "Secret whose keys become environment variables.").nullable(),
});
