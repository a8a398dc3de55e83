import {
  defaultPolicy,
  type BindingManifest,
  type DefaultPolicy,
  type RoleManifest,
} from "../../src/authorization/rbac/default-roles/default-policy.ts";
import type { PolicyRule } from "../../src/authorization/rbac/policy.ts";
import { kubernetes } from "../../src/vocabulary/kubernetes.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import type { Vocabulary } from "../../src/vocabulary/vocabulary.ts";

/** Returns the page of the default roles in both vocabularies. */
export function defaultRolesPage(): string {
  return [
    "# Default roles",
    "",
    "Which roles and bindings a new server has, and what each allows.",
    "The server creates them and, unless an object has the annotation",
    '`rbac.authorization.platform.io/autoupdate: "false"`, restores at startup. Generated from `src/authorization/rbac/default-roles/`',
    "by `npm run default-roles`. A line is one rule: verbs, then resources with their API group (`core` for the empty one), or URL paths;",
    "names in parentheses limit it to these objects. Labels other than `bootstrapping: rbac-defaults` are listed.",
    "",
    ...vocabularySection(platform),
    ...vocabularySection(kubernetes),
  ].join("\n");
}

function vocabularySection(vocabulary: Vocabulary): string[] {
  const policy = defaultPolicy(vocabulary, { selfSubjectReviews: true });
  const roles = [...policy.clusterRoles, ...policy.roles];
  return [
    `## Vocabulary ${vocabulary.name}`,
    "",
    ...roles.flatMap((role) => roleSection(role, policy, vocabulary)),
  ];
}

function roleSection(role: RoleManifest, policy: DefaultPolicy, vocabulary: Vocabulary): string[] {
  const { name, namespace } = role.metadata;
  const bindings = (namespace === undefined ? policy.clusterRoleBindings : policy.roleBindings).filter(
    ({ roleRef, metadata }) => roleRef.name === name && metadata.namespace === namespace,
  );
  const lines = [
    ...aggregationLines(role, vocabulary),
    ...bindings.map(bindingLine),
    ...(role.rules ?? []).map((rule) => `- ${ruleText(rule)}`),
  ];
  return [`### ${role.kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`, "", ...lines, ""];
}

function aggregationLines({ metadata, aggregationRule }: RoleManifest, vocabulary: Vocabulary): string[] {
  const labels = Object.entries(metadata.labels ?? {}).filter(
    ([key]) => key !== vocabulary.bootstrappingLabel,
  );
  const selectors = aggregationRule?.clusterRoleSelectors ?? [];
  return [
    ...labels.map(([key, value]) => `- label \`${key}: ${value}\``),
    ...selectors.map((selector) => `- aggregates the roles that match \`${JSON.stringify(selector)}\``),
  ];
}

function bindingLine({ metadata, subjects }: BindingManifest): string {
  const texts = (subjects ?? []).map(({ kind, name, namespace }) =>
    [kind, namespace === undefined ? name : `${namespace}/${name}`].join(" "),
  );
  return `- bound by ${metadata.name} to ${texts.length === 0 ? "no subject" : texts.join(", ")}`;
}

function ruleText({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): string {
  const targets = [
    ...(apiGroups ?? []).map((group) => `${group === "" ? "core" : group}: ${(resources ?? []).join(" ")}`),
    ...(nonResourceURLs ?? []),
  ];
  const names = resourceNames === undefined || resourceNames === null ? "" : ` (${resourceNames.join(", ")})`;
  return `\`${(verbs ?? []).join(" ")}\` on \`${targets.join("; ")}\`${names}`;
}
