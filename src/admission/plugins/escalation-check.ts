import { objectAs } from "../../schema/api-object.ts";
import type { AdmissionPlugin, AdmittedType } from "../admission-chain.ts";
import { andThen } from "../../base/turns/maybe-promise.ts";
import type { Authorizer } from "../../authorization/authorizer.ts";
import {
  checkBindingWrite,
  checkRoleWrite,
  type WrittenBinding,
} from "../../authorization/rbac/escalation.ts";
import { rbac } from "../../kinds/groups.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { StoredRbac } from "../../authorization/rbac/stored-rbac.ts";

/**
 * The escalation check of roles and bindings: users can't grant permissions that they don't have (spec: access review 5, as the
 * reference). It runs last and can't be disabled.
 */
export function escalationCheck(
  policy: StoredRbac,
  authorizer: Authorizer,
  vocabulary: Vocabulary,
): AdmissionPlugin {
  const sources = { authorizer, policy: policy.index, vocabulary };
  return {
    name: "EscalationCheck",
    concerns: (operation, target) => operation !== "DELETE" && checkOf(target) !== undefined,
    validate(request) {
      const { object, target } = request;
      if (object === undefined) return;
      const check = checkOf(target);
      if (check === undefined) return;
      return andThen(policy.sync(), () => check(request, object, sources));
    },
  };
}

type Sources = Parameters<typeof checkRoleWrite>[1];
type Check = (request: AdmissionRequest, object: ApiObject, sources: Sources) => Promise<void>;

const checks: Readonly<Record<string, Check>> = {
  Role: checkRole,
  ClusterRole: checkRole,
  RoleBinding: checkBinding,
  ClusterRoleBinding: checkBinding,
};

function checkOf({ resource, subresource }: AdmittedType): Check | undefined {
  const { name, group } = resource.kind;
  return subresource === "" && group.base === rbac.base && Object.hasOwn(checks, name)
    ? checks[name]
    : undefined;
}

function checkRole(
  { user, target, live }: AdmissionRequest,
  role: ApiObject,
  sources: Sources,
): Promise<void> {
  const { namespace, name } = target;
  return checkRoleWrite({ user, namespace, name, role, live }, sources);
}

function checkBinding(
  { user, target, live }: AdmissionRequest,
  object: ApiObject,
  sources: Sources,
): Promise<void> {
  const { namespace, name } = target;
  const binding = objectAs<WrittenBinding>(object);
  return checkBindingWrite({ user, namespace, name, binding, live: objectAs<WrittenBinding>(live) }, sources);
}
