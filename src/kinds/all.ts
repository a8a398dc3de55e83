import type { Kind } from "../schema/kind.ts";
import { SelfSubjectReview } from "./authentication/self-subject-review.ts";
import {
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
} from "./authorization/reviews.ts";
import { ConfigMap } from "./core/config-map.ts";
import { Namespace } from "./core/namespace.ts";
import { Secret } from "./core/secret.ts";
import { ServiceAccount } from "./core/service-account.ts";
import { ClusterRoleBinding, RoleBinding } from "./rbac/bindings.ts";
import { ClusterRole, Role } from "./rbac/roles.ts";

/** Every built-in kind, in the order in which groups and resources are listed to clients. */
export const builtInKinds: readonly Kind[] = [
  ConfigMap,
  Namespace,
  Secret,
  ServiceAccount,
  SelfSubjectReview,
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
  ClusterRoleBinding,
  ClusterRole,
  RoleBinding,
  Role,
];
