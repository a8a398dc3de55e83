import { kind, struct } from "./v1.ts";
import { type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, list } from "../../schema/types.ts";
import { labelSelectorFaults } from "../../base/selectors/label-selector.ts";
import { labelSelector } from "../checks/selectors.ts";
import { LabelSelector } from "../meta/label-selector.ts";
import { checkRules, PolicyRule } from "./policy-rule.ts";

const AggregationRule = struct("AggregationRule", "Selects the cluster roles whose rules are combined.", {
  clusterRoleSelectors: field(
    1,
    list(LabelSelector),
    "Label selectors of cluster roles; the rules of each role that matches one are added.",
  ).atomic(),
});

export const Role = kind({
  name: "Role",
  resource: "roles",
  singular: "role",
  scope: "Namespaced",
  doc: "A set of permissions within a namespace.",
  nameForm: "pathSegment",
  createOnUpdate: true,
  effect: {
    enforced:
      "the authorization mode RBAC allows what the rules of bound roles allow, from the next request on",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the role.").emitEmpty(),
    rules: field(2, list(PolicyRule), "Rules of the role.").atomic().emitEmpty(),
  },
  validate: (role, report) => checkRules(role.rules, report.at("rules"), { namespaced: true }),
});
export type Role = ObjectFor<typeof Role>;

export const ClusterRole = kind({
  name: "ClusterRole",
  resource: "clusterroles",
  singular: "clusterrole",
  scope: "Cluster",
  doc: "A set of permissions for the whole cluster, or for a namespace with a RoleBinding.",
  nameForm: "pathSegment",
  createOnUpdate: true,
  effect: {
    enforced: "as for roles, in all namespaces or in those of role bindings",
    acts: "the controller `clusterrole-aggregation` fills in the rules of aggregated roles",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the role.").emitEmpty(),
    rules: field(2, list(PolicyRule), "Rules of the role.").atomic().emitEmpty(),
    aggregationRule: field(
      3,
      AggregationRule,
      "Selects cluster roles to combine; a controller then overwrites `rules`.",
    ).nullable(),
  },
  validate(role, report) {
    checkRules(role.rules, report.at("rules"), { namespaced: false });
    const selectors = role.aggregationRule?.clusterRoleSelectors;
    if (role.aggregationRule === undefined) return;
    const clusterRoleSelectorsReport = report.at("aggregationRule", "clusterRoleSelectors");
    if (selectors === undefined || selectors.length === 0) {
      clusterRoleSelectorsReport.required(
        "at least one clusterRoleSelector required if aggregationRule is non-nil",
      );
    }
    for (const [index, selector] of (selectors ?? []).entries()) {
      if (report.full) return;
      const here = clusterRoleSelectorsReport.at(index);
      labelSelector(selector, here);
      // Reported twice, as in the reference.
      const [fault] = labelSelectorFaults(selector);
      if (fault !== undefined) here.invalid(selector, `invalid label selector: ${fault.message}`);
    }
  },
});
export type ClusterRole = ObjectFor<typeof ClusterRole>;
