import { LocalObjectReference } from "../references.ts";
import { atomicStruct, struct } from "../v1.ts";
import { descendingPath } from "../../checks/paths.ts";
import { dataKey, dnsLabel, dnsSubdomain, environmentName } from "../../checks/names.ts";
import { valueSources } from "./environment-rules.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { since } from "../../../schema/later-fields.ts";
import { bool, field, inlined, quantity, string } from "../../../schema/types.ts";

export const ObjectFieldSelector = atomicStruct("ObjectFieldSelector", "A field of the pod.", {
  apiVersion: field(1, string, "Version in which the path is read.").unpublishedDefault("v1"),
  fieldPath: field(2, string, "Path of the field.").required(),
});

export const ResourceFieldSelector = atomicStruct("ResourceFieldSelector", "A container's resource.", {
  containerName: field(1, string, "Name of the container; needed in volumes."),
  resource: field(2, string, "Name of the resource, such as limits.cpu.").required(),
  divisor: field(3, quantity, "Unit in which the amount is given.").emitEmpty(),
});

const ConfigMapKeySelector = atomicStruct(
  "ConfigMapKeySelector",
  "A key of a config map.",
  {
    ...inlined(1, LocalObjectReference),
    key: field(2, string, "The key.").required().check(dataKey),
    optional: field(3, bool, "Whether the map or its key may be missing.").nullable(),
  },
  { check: (selector, report) => dnsSubdomain(selector.name ?? "", report.at("name")) },
);

const SecretKeySelector = atomicStruct(
  "SecretKeySelector",
  "A key of a secret.",
  {
    ...inlined(1, LocalObjectReference),
    key: field(2, string, "The key.").required().check(dataKey),
    optional: field(3, bool, "Whether the secret or its key may be missing.").nullable(),
  },
  { check: (selector, report) => dnsSubdomain(selector.name ?? "", report.at("name")) },
);

const FileKeySelector = atomicStruct("FileKeySelector", "A key of a file with environment variables.", {
  volumeName: field(1, string, "Name of one of the pod's volumes.").required().check(dnsLabel),
  path: field(2, string, "Path of the file in the volume.").required().check(descendingPath),
  key: field(3, string, "The key.").required().check(environmentName),
  optional: field(4, bool, "Whether the file or its key may be missing.").nullable().default(false),
});

const EnvVarSource = struct(
  "EnvVarSource",
  "Where the value of an environment variable comes from; exactly one is given.",
  {
    fieldRef: field(1, ObjectFieldSelector, "A field of the pod.").nullable(),
    resourceFieldRef: field(2, ResourceFieldSelector, "A resource of the container.").nullable(),
    configMapKeyRef: field(3, ConfigMapKeySelector, "A key of a config map.").nullable(),
    secretKeyRef: field(4, SecretKeySelector, "A key of a secret in the pod's namespace.").nullable(),
  },
  {
    later: () => ({
      fileKeyRef: since(
        "1.34",
        field(5, FileKeySelector, "A key of a file in one of the pod's volumes.")
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
    value: field(2, string, "Its value; $(NAME) is replaced by variables that are already known."),
    valueFrom: field(3, EnvVarSource, "Where its value comes from, when none is given.").nullable(),
  },
  { check: valueSources },
);

function namedSource(source: { readonly name?: string | undefined }, report: FieldReport): void {
  if ((source.name ?? "") === "") report.at("name").required();
  else dnsSubdomain(source.name ?? "", report.at("name"));
}

const ConfigMapEnvSource = struct(
  "ConfigMapEnvSource",
  "A config map whose data become environment variables.",
  {
    ...inlined(1, LocalObjectReference),
    optional: field(2, bool, "Whether the map may be missing.").nullable(),
  },
  { check: namedSource },
);

const SecretEnvSource = struct(
  "SecretEnvSource",
  "A secret whose data become environment variables.",
  {
    ...inlined(1, LocalObjectReference),
    optional: field(2, bool, "Whether the secret may be missing.").nullable(),
  },
  { check: namedSource },
);

export const EnvFromSource = struct("EnvFromSource", "A source of several environment variables.", {
  prefix: field(1, string, "Text put before each variable's name.").check(environmentName),
  configMapRef: field(2, ConfigMapEnvSource, "The config map.").nullable(),
  secretRef: field(3, SecretEnvSource, "The secret.").nullable(),
});
