import type { Json } from "./yaml.ts";
import { writeYaml } from "./yaml.ts";

interface GrantedAction {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** Returns the YAML of a role with its binding that allow a user an action, and nothing else. */
export function grantText(user: string, action: GrantedAction, groupSuffix: string): string {
  const { verb, group, resource, subresource = "", namespace = "", name = "" } = action;
  const apiGroup = `rbac.authorization.${groupSuffix}`;
  const type = subresource === "" ? resource : `${resource}/${subresource}`;
  const metadata = {
    name: `${verb}-${resource}`,
    ...(namespace !== "" && { namespace }),
  };
  const kind = namespace === "" ? "ClusterRole" : "Role";
  const rule = {
    apiGroups: [group],
    resources: [type],
    verbs: [verb],
    // New objects have no name yet when they are authorized.
    ...(name !== "" && verb !== "create" && { resourceNames: [name] }),
  };
  const role: Json = { apiVersion: `${apiGroup}/v1`, kind, metadata, rules: [rule] };
  const account = user.startsWith("system:serviceaccount:") ? user.split(":") : [];
  const subject: Json =
    account.length === 4
      ? { kind: "ServiceAccount", namespace: account[2]!, name: account[3]! }
      : { kind: "User", apiGroup, name: user };
  const binding: Json = {
    apiVersion: `${apiGroup}/v1`,
    kind: `${kind}Binding`,
    metadata: { ...metadata, name: `${metadata.name}-${bindingName(user)}` },
    roleRef: { apiGroup, kind, name: metadata.name },
    subjects: [subject],
  };
  return `${writeYaml(role)}---\n${writeYaml(binding)}`;
}

/** Returns the characters of a user's name that a name of an object may have. */
function bindingName(user: string): string {
  const words = user.toLowerCase().match(/[a-z0-9]+/g) ?? ["user"];
  return words.join("-").slice(0, 100);
}
