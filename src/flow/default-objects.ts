import { apiGroup } from "../vocabulary/names.ts";
import { rowsIn, until } from "../base/release-rows.ts";
import type { Release } from "../base/releases.ts";
import { mandatoryLevels, mandatorySchemas } from "../kinds/flowcontrol/mandatory.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import type {
  FlowSchemaObject,
  FlowSchemaSpec,
  PriorityLevelObject,
  PriorityLevelSpec,
  Subject,
} from "./objects.ts";

/** A configuration object that every server creates. */
export interface DefaultObject<O> {
  readonly object: O;
  /** Whether the server restores it after a change; otherwise an administrator may take it over. */
  readonly mandatory: boolean;
}

/** The default priority levels of the reference in a release. */
export function defaultLevels(release: Release): DefaultObject<PriorityLevelObject>[] {
  const fixed = Object.entries(mandatoryLevels(release)).map(([name, spec]) => ({
    object: { metadata: { name }, spec: spec as PriorityLevelSpec },
    mandatory: true,
  }));
  const suggested = (
    [
      ["system", 30, 33, 64, 6],
      ["node-high", 40, 25, 64, 6],
      ["leader-election", 10, 0, 16, 4],
      ["workload-high", 40, 50, 128, 6],
      ["workload-low", 100, 90, 128, 6],
      ["global-default", 20, 50, 128, 6],
    ] as const
  ).map(([name, nominalConcurrencyShares, lendablePercent, queues, handSize]) => ({
    object: {
      metadata: { name },
      spec: {
        type: "Limited",
        limited: {
          nominalConcurrencyShares,
          limitResponse: { type: "Queue", queuing: { queues, handSize, queueLengthLimit: 50 } },
          lendablePercent,
        },
      },
    },
    mandatory: false,
  }));
  return [...fixed, ...suggested];
}

const all = ["*"];
const everything = {
  resourceRules: [{ verbs: all, apiGroups: all, resources: all, clusterScope: true, namespaces: all }],
  nonResourceRules: [{ verbs: all, nonResourceURLs: all }],
};
/** Rule for locks of leader election in any namespace. */
const locking = (group: string, ...resources: readonly string[]) => ({
  verbs: ["get", "create", "update"],
  apiGroups: [group],
  resources,
  namespaces: all,
});
const user = (name: string): Subject => ({ kind: "User", user: { name } });
const group = (name: string): Subject => ({ kind: "Group", group: { name } });

/** The flow schemas that releases from 1.34 on don't have: election locks that are no leases. */
const olderSchemas = new Set(["endpoint-controller", "workload-leader-election"]);

/** The default flow schemas of the reference. */
export function defaultSchemas(vocabulary: Vocabulary, release: Release): DefaultObject<FlowSchemaObject>[] {
  const fixed = Object.entries(mandatorySchemas(vocabulary)).map(([name, spec]) => ({
    object: { metadata: { name }, spec: spec as FlowSchemaSpec },
    mandatory: true,
  }));
  const all = [...systemSchemas(vocabulary), ...workloadSchemas(vocabulary)];
  const suggested = rowsIn(
    all.map((one) => (olderSchemas.has(one.metadata.name) ? until("1.34", one) : one)),
    { release },
  );
  return [...fixed, ...suggested.map((object) => ({ object, mandatory: false }))];
}

function systemSchemas(vocabulary: Vocabulary): FlowSchemaObject[] {
  const { systemPrefix, systemNamespace, components, groupSuffix } = vocabulary;
  const leases = apiGroup(groupSuffix, "coordination");
  const nodes = [group(`${systemPrefix}nodes`)];
  const manager = user(systemPrefix + components.controllerManager);
  const scheduler = user(systemPrefix + components.scheduler);
  const account = (name: string): Subject => ({
    kind: "ServiceAccount",
    serviceAccount: { namespace: systemNamespace, name },
  });
  return [
    schema("probes", "exempt", 2, undefined, {
      subjects: [group(`${systemPrefix}unauthenticated`), group(`${systemPrefix}authenticated`)],
      nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/healthz", "/readyz", "/livez"] }],
    }),
    schema("system-leader-election", "leader-election", 100, "ByUser", {
      subjects: [manager, scheduler, account("*")],
      resourceRules: [locking(leases, "leases")],
    }),
    schema("endpoint-controller", "workload-high", 150, "ByUser", {
      subjects: [manager, account("endpoint-controller"), account("endpointslicemirroring-controller")],
      resourceRules: [locking("", "endpoints")],
    }),
    schema("workload-leader-election", "leader-election", 200, "ByUser", {
      subjects: [account("*")],
      resourceRules: [locking("", "endpoints", "configmaps"), locking(leases, "leases")],
    }),
    schema("system-node-high", "node-high", 400, "ByUser", {
      subjects: nodes,
      resourceRules: [
        {
          verbs: all,
          apiGroups: [""],
          resources: ["nodes", "nodes/status"],
          clusterScope: true,
          namespaces: all,
        },
        { verbs: all, apiGroups: [leases], resources: ["leases"], namespaces: all },
      ],
    }),
    schema("system-nodes", "system", 500, "ByUser", { subjects: nodes, ...everything }),
  ];
}

function workloadSchemas({ systemPrefix, systemNamespace, components }: Vocabulary): FlowSchemaObject[] {
  const { controllerManager, scheduler } = components;
  const accounts = { kind: "ServiceAccount", serviceAccount: { namespace: systemNamespace, name: "*" } };
  return [
    ...[controllerManager, scheduler].map((name) =>
      schema(name, "workload-high", 800, "ByNamespace", {
        subjects: [user(systemPrefix + name)],
        ...everything,
      }),
    ),
    schema(`${systemNamespace}-service-accounts`, "workload-high", 900, "ByNamespace", {
      subjects: [accounts],
      ...everything,
    }),
    schema("service-accounts", "workload-low", 9000, "ByUser", {
      subjects: [group(`${systemPrefix}serviceaccounts`)],
      ...everything,
    }),
    schema("global-default", "global-default", 9900, "ByUser", {
      subjects: [group(`${systemPrefix}unauthenticated`), group(`${systemPrefix}authenticated`)],
      ...everything,
    }),
  ];
}

function schema(
  name: string,
  level: string,
  matchingPrecedence: number,
  distinguisher: string | undefined,
  rule: NonNullable<FlowSchemaSpec["rules"]>[number],
): FlowSchemaObject {
  const distinguisherMethod =
    distinguisher === undefined ? {} : { distinguisherMethod: { type: distinguisher } };
  const priorityLevelConfiguration = { name: level };
  return {
    metadata: { name },
    spec: { priorityLevelConfiguration, matchingPrecedence, ...distinguisherMethod, rules: [rule] },
  };
}
