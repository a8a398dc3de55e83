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
]);
