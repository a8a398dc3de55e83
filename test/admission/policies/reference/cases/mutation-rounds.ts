import { configMap, type Case } from "../case.ts";
import { labels, mutates, spec } from "./mutation.ts";

const count = {
  apply:
    "Object{metadata: Object.metadata{labels: {'n': string((has(object.metadata.labels) && 'n' in object.metadata.labels ? int(object.metadata.labels.n) : 0) + 1)}}}",
};

/** Selection, order and repetition of mutating policies. */
export const roundCases: readonly Case[] = [
  mutates("several mutations see the changes of earlier ones", [
    labels("a"),
    { patch: "[JSONPatch{op: 'copy', from: '/metadata/labels/a', path: '/metadata/labels/b'}]" },
  ]),
  mutates("a policy that is never reinvoked runs once", [count]),
  mutates("a policy that is reinvoked if needed runs twice", [count], {
    more: { reinvocationPolicy: "IfNeeded" },
  }),
  {
    name: "a policy that is reinvoked sees the changes of later ones",
    mutating: [
      {
        spec: spec(
          [labels("seen", "string(has(object.metadata.labels) && 'later' in object.metadata.labels)")],
          { reinvocationPolicy: "IfNeeded" },
        ),
      },
      { spec: spec([labels("later")]) },
    ],
    requests: [configMap()],
  },
  {
    name: "a failing mutation doesn't stop the others",
    mutating: [
      {
        spec: spec([{ apply: "Object{data: {'x': object.data.missing}}" }, labels("a")], {
          failurePolicy: "Ignore",
        }),
      },
      { spec: spec([labels("b")]) },
    ],
    requests: [configMap()],
  },
  {
    name: "validating policies see the mutated object",
    mutating: [{ spec: spec([labels("a")]) }],
    validating: [{ spec: { validations: [{ expression: "object.metadata.labels.a == 'x'" }] } }],
    requests: [configMap()],
  },
  mutates("match conditions select requests", [labels("a")], {
    more: { matchConditions: [{ name: "named", expression: "object.metadata.name == 'other'" }] },
    requests: [configMap(), configMap({}, { name: "other" })],
  }),
  mutates("a match condition that fails", [labels("a")], {
    more: { matchConditions: [{ name: "broken", expression: "object.data.missing == 'x'" }] },
  }),
  mutates("variables", [labels("a", "variables.b")], {
    more: {
      variables: [
        { name: "a", expression: "object.data.a" },
        { name: "b", expression: "variables.a + 'c'" },
      ],
    },
  }),
  mutates("a variable that can't be evaluated", [labels("a", "variables.b")], {
    more: { variables: [{ name: "b", expression: "object.data.missing" }] },
  }),
  {
    name: "parameters",
    objects: [
      {
        path: "configmaps",
        body: configMap({ label: "blue" }, { name: "params", labels: { kind: "params" } }).body as object,
      },
    ],
    mutating: [
      {
        spec: spec([labels("color", "params.data.label")], {
          paramKind: { apiVersion: "v1", kind: "ConfigMap" },
        }),
        binding: { paramRef: { name: "params", parameterNotFoundAction: "Deny" } },
      },
    ],
    requests: [configMap()],
  },
  {
    name: "several selected parameters are invocations of their own",
    objects: [
      {
        path: "configmaps",
        body: configMap({ label: "blue" }, { name: "p1", labels: { kind: "params" } }).body as object,
      },
      {
        path: "configmaps",
        body: configMap({ label: "red" }, { name: "p2", labels: { kind: "params" } }).body as object,
      },
    ],
    mutating: [
      {
        spec: spec([{ apply: "Object{metadata: Object.metadata{labels: {params.data.label: 'x'}}}" }], {
          paramKind: { apiVersion: "v1", kind: "ConfigMap" },
        }),
        binding: {
          paramRef: { selector: { matchLabels: { kind: "params" } }, parameterNotFoundAction: "Deny" },
        },
      },
    ],
    requests: [configMap()],
  },
  {
    name: "missing parameters of a validating policy",
    validating: [
      {
        spec: { validations: [{ expression: "true" }], paramKind: { apiVersion: "v1", kind: "ConfigMap" } },
        binding: { paramRef: { name: "params", parameterNotFoundAction: "Deny" } },
      },
    ],
    requests: [configMap()],
  },
  {
    name: "missing parameters",
    mutating: [
      {
        spec: spec([labels("color", "params.data.label")], {
          paramKind: { apiVersion: "v1", kind: "ConfigMap" },
        }),
        binding: { paramRef: { name: "params", parameterNotFoundAction: "Deny" } },
      },
    ],
    requests: [configMap()],
  },
  {
    name: "missing parameters that are allowed",
    mutating: [
      {
        spec: spec([labels("color", "params.data.label")], {
          paramKind: { apiVersion: "v1", kind: "ConfigMap" },
        }),
        binding: { paramRef: { name: "params", parameterNotFoundAction: "Allow" } },
      },
    ],
    requests: [configMap()],
  },
];
