import { objectAs } from "../schema/api-object.ts";
import { compileLabelSelector } from "../base/selectors/label-selector.ts";
import { ClusterRole } from "../kinds/rbac/roles.ts";
import type { PolicyRule } from "../kinds/rbac/policy-rule.ts";
import type { Controller, ControllerContext, QueueDependencies } from "./controller.ts";
import { namesOf } from "../resources/registry/registry.ts";
import { WorkQueue } from "./work-queue.ts";

type Dependencies = QueueDependencies & Pick<ControllerContext, "client" | "registry" | "informer">;

/**
 * Sets the rules of aggregated cluster roles: the rules of all roles that match one of the selectors, ordered by role
 * name, without duplicates (spec: access review 2.4). A rule that a user adds to an aggregated role is overwritten.
 */
export const clusterRoleAggregation: Controller<Dependencies> = {
  name: "clusterrole-aggregation",
  start(context) {
    const roles = context.registry.require(ClusterRole);
    const informer = context.informer(roles);
    const queue = new WorkQueue(
      context.clock,
      async (name) => {
        const role = objectAs<ClusterRole>(informer.get("", name));
        if (role?.aggregationRule === undefined || role.metadata.deletionTimestamp !== undefined) return;
        const rules = aggregate(role, objectAs<ClusterRole[]>([...informer.list()]));
        if (JSON.stringify(rules) === JSON.stringify(role.rules ?? [])) return;
        const reference = { apiVersion: roles.apiVersion, kind: roles.kind.name, name };
        const { resourceVersion } = role.metadata;
        await context.client.patch(reference, { metadata: { resourceVersion }, rules });
      },
      (name, error) => context.failed(this.name, name, error),
      context.queueObserver?.(this.name),
    );
    informer.listen((key, object, before) => {
      queue.add(namesOf(key).name);
      if (
        JSON.stringify(object?.metadata.labels) === JSON.stringify(before?.metadata.labels) &&
        sameRules(object, before)
      )
        return;
      for (const other of informer.list()) {
        if (objectAs<ClusterRole>(other).aggregationRule !== undefined) queue.add(other.metadata.name!);
      }
    });
    return { close: () => queue.close() };
  },
};

function sameRules(a: object | undefined, b: object | undefined): boolean {
  const rulesOf = (role: object | undefined) => (role as ClusterRole | undefined)?.rules;
  return JSON.stringify(rulesOf(a)) === JSON.stringify(rulesOf(b));
}

/**
 * Returns the rules of an aggregated role.
 *
 * @param all all cluster roles.
 */
export function aggregate(role: ClusterRole, all: readonly ClusterRole[]): PolicyRule[] {
  const selectors = (role.aggregationRule?.clusterRoleSelectors ?? []).map(compileLabelSelector);
  const sources = all
    .filter((other) => other.metadata.name !== role.metadata.name)
    .filter((other) => selectors.some((matches) => matches(other.metadata.labels)))
    .toSorted((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1));
  const seen = new Set<string>();
  const rules: PolicyRule[] = [];
  for (const rule of sources.flatMap((source) => source.rules ?? [])) {
    const text = JSON.stringify(rule);
    if (seen.has(text)) continue;
    seen.add(text);
    rules.push(rule);
  }
  return rules;
}
