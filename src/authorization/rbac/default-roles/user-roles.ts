import {
  allow,
  allowPaths,
  read,
  write,
  type BindingDeclaration,
  type RoleDeclaration,
  type PolicyNames,
} from "./declare.ts";

/** Options of the default roles. */
export interface UserRoleOptions {
  /** Whether authenticated users may create SelfSubjectReviews. The kind is alpha and served only if enabled. */
  readonly selfSubjectReviews: boolean;
}

/** Returns the ClusterRoles for users. */
export function userRoles(names: PolicyNames, options: UserRoleOptions): RoleDeclaration[] {
  const { prefix, authorization, authentication } = names;
  const selfReview = allow("create", authentication, "selfsubjectreviews");
  return [
    { name: "cluster-admin", rules: [allow("*", "*", "*"), allowPaths("*", "*")] },
    {
      name: `${prefix}discovery`,
      rules: [
        allowPaths(
          "get",
          "/livez /readyz /healthz /version /version/ /openapi /openapi/* /api /api/* /apis /apis/*",
        ),
      ],
    },
    {
      name: `${prefix}monitoring`,
      rules: [
        allowPaths("get", "/metrics /metrics/slis /livez /readyz /healthz /livez/* /readyz/* /healthz/*"),
      ],
    },
    {
      name: `${prefix}basic-user`,
      rules: [
        allow("create", authorization, "selfsubjectaccessreviews selfsubjectrulesreviews"),
        ...(options.selfSubjectReviews ? [selfReview] : []),
      ],
    },
    {
      name: `${prefix}public-info-viewer`,
      rules: [allowPaths("get", "/livez /readyz /healthz /version /version/")],
    },
    {
      name: `${prefix}service-account-issuer-discovery`,
      rules: [allowPaths("get", "/.well-known/openid-configuration /openid/v1/jwks")],
    },
    {
      name: `${prefix}insight-viewer`,
      rules: [allow("create", names.insight, "accessexplanations bulkaccessreviews subjectaccesslists")],
    },
    ...aggregatedRoles(names),
  ];
}

/** Returns the default bindings of {@link userRoles}. */
export function userBindings({ prefix, group }: PolicyNames): BindingDeclaration[] {
  const authenticated = group("authenticated");
  const bind = (role: string, ...subjects: BindingDeclaration["subjects"]) => ({
    name: role,
    role,
    subjects,
  });
  return [
    bind("cluster-admin", group("masters")),
    bind(`${prefix}monitoring`, group("monitoring")),
    bind(`${prefix}discovery`, authenticated),
    bind(`${prefix}basic-user`, authenticated),
    bind(`${prefix}public-info-viewer`, authenticated, group("unauthenticated")),
    bind(`${prefix}service-account-issuer-discovery`, group("serviceaccounts")),
  ];
}

/**
 * Returns the aggregated roles `admin`, `edit` and `view` and the default roles that they aggregate. `admin` includes `edit`,
 * and `edit` includes `view`, because each has the label that the next one selects.
 */
function aggregatedRoles(names: PolicyNames): RoleDeclaration[] {
  const { prefix, vocabulary } = names;
  const label = (role: string): string => vocabulary.aggregateToLabelPrefix + role;
  const aggregatedRole = (role: string, rules: RoleDeclaration["rules"]): RoleDeclaration => ({
    name: `${prefix}aggregate-to-${role}`,
    labels: { [label(role)]: "true" },
    rules,
  });
  return [
    { name: "admin", rules: [], aggregatesLabel: label("admin") },
    { name: "edit", rules: [], aggregatesLabel: label("edit"), labels: { [label("admin")]: "true" } },
    { name: "view", rules: [], aggregatesLabel: label("view"), labels: { [label("edit")]: "true" } },
    aggregatedRole("admin", [
      allow("create", names.authorization, "localsubjectaccessreviews"),
      allow(`${read} ${write}`, names.rbac, "roles rolebindings"),
    ]),
    aggregatedRole("edit", editRules(names)),
    aggregatedRole("view", viewRules(names)),
  ];
}

function editRules(names: PolicyNames): RoleDeclaration["rules"] {
  const { core, apps, autoscaling, batch, extensions, policy, networking, coordination } = names;
  const podAccess = "pods/attach pods/proxy pods/exec pods/portforward";
  return [
    // Reading these allows escalation, so `view` doesn't include them.
    allow(read, core, `${podAccess} secrets services/proxy`),
    allow("impersonate", core, "serviceaccounts"),
    allow(write, core, `pods ${podAccess}`),
    allow("create", core, "pods/eviction"),
    allow(
      write,
      core,
      "replicationcontrollers replicationcontrollers/scale serviceaccounts services services/proxy " +
        "persistentvolumeclaims configmaps secrets events",
    ),
    allow("create", core, "serviceaccounts/token"),
    allow(
      write,
      apps,
      "statefulsets statefulsets/scale daemonsets deployments deployments/scale deployments/rollback " +
        "replicasets replicasets/scale",
    ),
    allow(write, autoscaling, "horizontalpodautoscalers"),
    allow(write, batch, "jobs cronjobs"),
    allow(
      write,
      extensions,
      "daemonsets deployments deployments/scale deployments/rollback ingresses replicasets replicasets/scale " +
        "replicationcontrollers/scale networkpolicies",
    ),
    allow(write, policy, "poddisruptionbudgets"),
    allow(write, networking, "networkpolicies ingresses"),
    allow(`${read} ${write}`, coordination, "leases"),
  ];
}

function viewRules(names: PolicyNames): RoleDeclaration["rules"] {
  const { core, apps, autoscaling, batch, extensions, policy, networking, discovery } = names;
  return [
    allow(
      read,
      core,
      "pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status endpoints " +
        "persistentvolumeclaims persistentvolumeclaims/status configmaps",
    ),
    allow(
      read,
      core,
      "limitranges resourcequotas bindings events pods/status resourcequotas/status namespaces/status " +
        "replicationcontrollers/status pods/log",
    ),
    // In a RoleBinding this allows reading the namespace itself.
    allow(read, core, "namespaces"),
    allow(read, discovery, "endpointslices"),
    allow(
      read,
      apps,
      "controllerrevisions statefulsets statefulsets/status statefulsets/scale daemonsets daemonsets/status " +
        "deployments deployments/status deployments/scale replicasets replicasets/status replicasets/scale",
    ),
    allow(read, autoscaling, "horizontalpodautoscalers horizontalpodautoscalers/status"),
    allow(read, batch, "jobs cronjobs cronjobs/status jobs/status"),
    allow(
      read,
      extensions,
      "daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status " +
        "replicasets replicasets/scale replicasets/status replicationcontrollers/scale networkpolicies",
    ),
    allow(read, policy, "poddisruptionbudgets poddisruptionbudgets/status"),
    allow(read, networking, "networkpolicies ingresses ingresses/status"),
  ];
}
