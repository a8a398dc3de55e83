import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  defaultPolicy,
  type BindingManifest,
  type RoleManifest,
} from "../../src/authorization/rbac/default-roles/default-policy.ts";
import { changesOfRelease } from "../../src/authorization/rbac/default-roles/release-roles.ts";
import { defaultRelease, releaseAfter, releases, type Release } from "../../src/base/releases.ts";
import { gatesOfRelease } from "../../src/server/features/features.ts";
import { kubernetes } from "../../src/vocabulary/kubernetes.ts";

interface Changes {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** What each release added to the default roles of the reference and removed from them, with its default gates. */
const reference = JSON.parse(
  readFileSync(new URL("reference/role-changes.json", import.meta.url), "utf8"),
) as Record<string, Changes>;

function grantsOf({ metadata, rules }: RoleManifest): string[] {
  const role = metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`;
  return (rules ?? []).flatMap((rule) =>
    (rule.verbs ?? []).flatMap((verb) => [
      ...(rule.nonResourceURLs ?? []).map((path) => `${role} ${verb} ${path}`),
      ...(rule.apiGroups ?? []).flatMap((group) =>
        (rule.resources ?? []).flatMap((resource) =>
          (rule.resourceNames?.length ? rule.resourceNames : [""]).map(
            (name) => `${role} ${verb} ${group || "core"}: ${resource}${name && ` (${name})`}`,
          ),
        ),
      ),
    ]),
  );
}

function subjectsOf({ metadata, subjects }: BindingManifest): string[] {
  return (subjects ?? []).map(
    ({ kind, namespace, name }) => `${metadata.name} < ${kind} ${namespace ? `${namespace}/` : ""}${name}`,
  );
}

function grantsIn(release: Release, gates = ""): Set<string> {
  const { enabled } = gatesOfRelease(release, gates);
  const policy = defaultPolicy(kubernetes, {
    selfSubjectReviews: release !== defaultRelease,
    change: release === defaultRelease ? undefined : changesOfRelease({ release, enabled }),
  });
  return new Set([
    ...[...policy.clusterRoles, ...policy.roles].flatMap(grantsOf),
    ...[...policy.clusterRoleBindings, ...policy.roleBindings].flatMap(subjectsOf),
  ]);
}

test.each(releases.slice(1))("the default roles of release %s change as in the reference", (release) => {
  const before = grantsIn(releaseAfter(release, -1) as Release);
  const after = grantsIn(release);
  expect([...after].filter((one) => !before.has(one)).toSorted()).toEqual(reference[release]!.added);
  expect([...before].filter((one) => !after.has(one)).toSorted()).toEqual(reference[release]!.removed);
});

test("a gate decides about the rules of its feature", () => {
  const rule = "system:node get certificates.k8s.io: clustertrustbundles";
  expect(grantsIn("1.33").has(rule)).toBe(false);
  expect(grantsIn("1.33", "ClusterTrustBundle=true").has(rule)).toBe(true);
  const role = "system:cluster-trust-bundle-discovery";
  expect(grantsIn("1.33", "ClusterTrustBundle=true").has(`${role} < Group system:serviceaccounts`)).toBe(
    true,
  );
});
