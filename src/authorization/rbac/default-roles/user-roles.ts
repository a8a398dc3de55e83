import {
  allow,
  allowPaths,
  read,
  write,
  type BindingDeclaration,
  type RoleDeclaration,
  type Words,
} from "./declare.ts";

/** Parts of the default roles that a configuration decides about. */
export interface UserRoleOptions {
  /** Whether everybody may create SelfSubjectReviews; the kind is alpha and not served unless it is enabled. */
  readonly selfSubjectReviews: boolean;
}

/** The ClusterRoles meant for people, and those that everybody has. */
export function userRoles(words: Words, options: UserRoleOptions): RoleDeclaration[] {
  const { prefix, authorization, authentication } = words;
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
      rules: [allow("create", words.insight, "accessexplanations bulkaccessreviews subjectaccesslists")],
    },
    ...aggregatedRoles(words),
  ];
}

/** Who has the roles of {@link userRoles} from the start. */
export function userBindings({ prefix, group }: Words): BindingDeclaration[] {
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
 * `admin`, `edit` and `view` gather the rules of all roles with their label. View's own rules reach edit, and edit's
 * reach admin, because each gathering role carries the label of the next.
 */
function aggregatedRoles(words: Words): RoleDeclaration[] {
  const { prefix, vocabulary } = words;
  const label = (role: string): string => vocabulary.aggregateToLabelPrefix + role;
  const part = (role: string, rules: RoleDeclaration["rules"]): RoleDeclaration => ({
    name: `${prefix}aggregate-to-${role}`,
    labels: { [label(role)]: "true" },
    rules,
  });
  return [
    { name: "admin", rules: [], aggregatesLabel: label("admin") },
    { name: "edit", rules: [], aggregatesLabel: label("edit"), labels: { [label("admin")]: "true" } },
    { name: "view", rules: [], aggregatesLabel: label("view"), labels: { [label("edit")]: "true" } },
    part("admin", [
      allow("create", words.authorization, "localsubjectaccessreviews"),
      allow(`${read} ${write}`, words.rbac, "roles rolebindings"),
    ]),
    part("edit", editRules(words)),
    part("view", viewRules(words)),
  ];
}

function editRules(words: Words): RoleDeclaration["rules"] {
  const { core, apps, autoscaling, batch, extensions, policy, networking, coordination } = words;
  const podAccess = "pods/attach pods/proxy pods/exec pods/portforward";
  return [
    // Looking at these is as good as acting, so view doesn't have them.
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

function viewRules(words: Words): RoleDeclaration["rules"] {
  const { core, apps, autoscaling, batch, extensions, policy, networking, discovery } = words;
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
    // Inside a namespace, this is the right to look at that namespace.
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
