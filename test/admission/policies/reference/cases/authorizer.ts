import { configMap, type Case } from "../case.ts";

const byJoe = { ...configMap(), user: "joe" } as const;
const again = { ...configMap({ a: "b" }, { name: "other" }) };

/** A policy that requires an expression, sent by joe and by the administrator. */
const requires = (name: string, expression: string, spec: object = {}): Case => ({
  name,
  validating: [{ spec: { validations: [{ expression }], ...spec } }],
  requests: [byJoe, again],
});

/** Access checks in the expressions of policies. */
export const authorizerCases: readonly Case[] = [
  requires(
    "check of a resource",
    "authorizer.group('').resource('secrets').namespace('default').check('get').allowed()",
  ),
  requires(
    "check of a resource in a group",
    "authorizer.group('apps').resource('deployments').check('create').allowed()",
  ),
  requires(
    "check of a subresource and a name",
    "authorizer.group('').resource('pods').subresource('log').name('x').namespace('default').check('get').allowed()",
  ),
  requires("check of a path", "authorizer.path('/reports').check('get').allowed()"),
  requires("check of a path that is denied", "authorizer.path('/other').check('get').allowed()"),
  requires("check of the resource of the request", "authorizer.requestResource.check('update').allowed()"),
  requires(
    "check of the resource of the request that is denied",
    "authorizer.requestResource.check('custom').allowed()",
  ),
  requires(
    "check of a service account",
    "authorizer.serviceAccount('default', 'builder').group('').resource('configmaps').namespace('x').check('create').allowed()",
  ),
  requires(
    "check of a service account that is denied",
    "authorizer.serviceAccount('default', 'other').group('').resource('configmaps').namespace('x').check('create').allowed()",
  ),
  requires(
    "invalid name of a service account",
    "authorizer.serviceAccount('default', 'A B').path('/reports').check('get').allowed()",
  ),
  requires(
    "invalid namespace of a service account",
    "authorizer.serviceAccount('a.b', 'x').path('/reports').check('get').allowed()",
  ),
  requires("empty path", "authorizer.path(' ').check('get').allowed()"),
  requires("empty resource", "authorizer.group('').resource('').check('get').allowed()"),
  requires(
    "decision without errors",
    "[authorizer.path('/reports').check('get')].all(d, d.allowed() && !d.errored() && d.error() == '')",
  ),
  requires(
    "reason of a denial",
    "authorizer.path('/other').check('get').allowed() || authorizer.path('/other').check('get').reason() == ''",
  ),
  requires(
    "two checks in one expression",
    "authorizer.path('/reports').check('get').allowed() && authorizer.path('/reports').check('get').allowed()",
  ),
  requires(
    "three checks in one expression exceed its cost limit",
    "authorizer.path('/reports').check('get').allowed() && authorizer.path('/reports').check('get').allowed() && authorizer.path('/reports').check('get').allowed()",
  ),
  {
    name: "twenty-eight checks are within the budget of a request, one more isn't",
    validating: [
      {
        spec: {
          validations: Array.from({ length: 15 }, (_, index) => ({
            expression: `authorizer.path('/reports').check('get').allowed() && authorizer.path('/reports').check('get').allowed() && ${index} >= 0`,
          })),
        },
      },
    ],
    requests: [byJoe],
  },
  requires(
    "check with selectors",
    "authorizer.group('').resource('pods').labelSelector('a=b').fieldSelector('spec.nodeName=n').check('list').allowed()",
  ),
  requires(
    "check with invalid selectors",
    "authorizer.group('').resource('pods').labelSelector('a=(').fieldSelector('((').check('list').allowed()",
  ),
  requires("check in a match condition", "false", {
    matchConditions: [{ name: "joe", expression: "!authorizer.path('/other').check('get').allowed()" }],
  }),
  {
    name: "check in a variable and an audit annotation",
    validating: [
      {
        spec: {
          variables: [{ name: "may", expression: "authorizer.path('/other').check('get').allowed()" }],
          validations: [{ expression: "variables.may" }],
          auditAnnotations: [
            { key: "may", valueExpression: "authorizer.path('/other').check('get').reason()" },
          ],
        },
      },
    ],
    requests: [byJoe, again],
  },
  {
    name: "message expressions have no authorizer",
    validating: [
      {
        spec: {
          validations: [
            { expression: "false", messageExpression: "authorizer.path('/x').check('get').reason()" },
          ],
        },
      },
    ],
    requests: [],
  },
  {
    name: "message expressions can't use a variable that needs the authorizer",
    validating: [
      {
        spec: {
          variables: [{ name: "why", expression: "authorizer.path('/x').check('get').reason() + 'denied'" }],
          validations: [{ expression: "false", messageExpression: "variables.why", message: "constant" }],
        },
      },
    ],
    requests: [byJoe],
  },
  {
    name: "a decision isn't a validation",
    validating: [{ spec: { validations: [{ expression: "authorizer.path('/x').check('get')" }] } }],
    requests: [],
  },
  {
    name: "a check of a group alone doesn't compile",
    validating: [{ spec: { validations: [{ expression: "authorizer.group('x').check('get').allowed()" }] } }],
    requests: [],
  },
];
