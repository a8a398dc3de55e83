import type { Outcomes } from "./run.ts";

interface Difference {
  readonly why: string;
  /** Outcomes of this server. */
  readonly outcome: Outcomes;
}

/** Cases in which this server intentionally answers differently. */
export const differences: ReadonlyMap<string, Difference> = new Map<string, Difference>([
  [
    "check in a variable and an audit annotation",
    {
      why: "the reference declares `authorizer` in audit annotations, and then evaluates them without it",
      outcome: {
        policies: [{ status: 201 }],
        answers: [
          {
            status: 422,
            reason: "Invalid",
            message:
              "configmaps \"map\" is forbidden: ValidatingAdmissionPolicy 'NAMESPACE-validating-0' with binding 'NAMESPACE-validating-0' denied request: failed expression: variables.may",
          },
          {
            status: 201,
            object: {
              kind: "ConfigMap",
              apiVersion: "v1",
              metadata: { name: "other", namespace: "NAMESPACE" },
              data: { a: "b" },
            },
          },
        ],
      },
    },
  ],
  [
    "apply of a map instead of an object",
    {
      why: "the reference doesn't convert maps inside of dynamic maps, and fails",
      outcome: {
        policies: [{ status: 201 }],
        answers: [
          {
            status: 201,
            object: {
              kind: "ConfigMap",
              apiVersion: "v1",
              metadata: { name: "map", namespace: "NAMESPACE", labels: { a: "b" } },
              data: { a: "b" },
            },
          },
        ],
      },
    },
  ],
  [
    "apply to a scale",
    {
      why: "the reference doesn't find the schema of Scale among those of the group of the scaled kind, and fails",
      outcome: {
        policies: [{ status: 201 }],
        answers: [
          {
            status: 200,
            object: {
              kind: "Scale",
              apiVersion: "autoscaling/v1",
              metadata: { name: "web", namespace: "NAMESPACE" },
              spec: { replicas: 3 },
              status: { replicas: 0, selector: "app=web" },
            },
          },
        ],
      },
    },
  ],
  [
    "a match condition that fails",
    {
      why: "the message names the condition",
      outcome: {
        policies: [{ status: 201 }],
        answers: [
          {
            status: 403,
            reason: "Invalid",
            message:
              "policy 'NAMESPACE-mutating-0' with binding 'NAMESPACE-mutating-0' denied request: matchCondition 'broken' failed: no such key: missing",
          },
        ],
      },
    },
  ],
]);
