import type { Case } from "../case.ts";
import { labels, mutationOf, spec } from "./mutation.ts";

const written = (name: string, policySpec: object): Case => ({
  name,
  mutating: [{ spec: policySpec }],
  requests: [],
});

/** Mutating policies that are written. */
export const writtenCases: readonly Case[] = [
  written("a policy without mutations", { reinvocationPolicy: "Never", mutations: [] }),
  written("a policy without reinvocation policy", { mutations: [mutationOf(labels("a"))] }),
  written("a policy with an unknown reinvocation policy", {
    reinvocationPolicy: "Always",
    mutations: [mutationOf(labels("a"))],
  }),
  written(
    "a policy for DELETE",
    spec([labels("a")], {
      matchConstraints: {
        resourceRules: [
          { apiGroups: [""], apiVersions: ["v1"], operations: ["DELETE"], resources: ["configmaps"] },
        ],
      },
    }),
  ),
  written(
    "a policy for CONNECT",
    spec([labels("a")], {
      matchConstraints: {
        resourceRules: [
          { apiGroups: [""], apiVersions: ["v1"], operations: ["CONNECT"], resources: ["pods/exec"] },
        ],
      },
    }),
  ),
  written("a policy without rules", spec([labels("a")], { matchConstraints: { resourceRules: [] } })),
  written("a mutation without patch type", {
    reinvocationPolicy: "Never",
    mutations: [{ applyConfiguration: { expression: "Object{}" } }],
  }),
  written("a mutation of an unknown patch type", {
    reinvocationPolicy: "Never",
    mutations: [{ patchType: "Merge", applyConfiguration: { expression: "Object{}" } }],
  }),
  written("a mutation with both members", {
    reinvocationPolicy: "Never",
    mutations: [
      {
        patchType: "JSONPatch",
        jsonPatch: { expression: "[JSONPatch{op: 'remove', path: '/data'}]" },
        applyConfiguration: { expression: "Object{}" },
      },
    ],
  }),
  written("a mutation without its member", {
    reinvocationPolicy: "Never",
    mutations: [{ patchType: "JSONPatch" }],
  }),
  written("a mutation with an empty expression", {
    reinvocationPolicy: "Never",
    mutations: [{ patchType: "JSONPatch", jsonPatch: { expression: " " } }],
  }),
  written(
    "patch types in a variable",
    spec([labels("a")], { variables: [{ name: "a", expression: "Object{}" }] }),
  ),
  written(
    "patch functions in a match condition",
    spec([labels("a")], { matchConditions: [{ name: "a", expression: "jsonpatch.escapeKey('a') == 'a'" }] }),
  ),
];
