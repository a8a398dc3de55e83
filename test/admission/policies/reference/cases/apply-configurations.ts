import { configMap, type Case } from "../case.ts";
import { apply, deployment, onDeployment, onGadget } from "./mutation.ts";

/** Mutations by apply configurations. */
export const configurationCases: readonly Case[] = [
  apply("apply adds a label", "Object{metadata: Object.metadata{labels: {'a': 'b'}}}"),
  apply("apply keeps other labels", "Object{metadata: Object.metadata{labels: {'a': 'b'}}}", {
    requests: [configMap({ a: "b" }, { labels: { c: "d", a: "old" } })],
  }),
  apply(
    "apply changes a number",
    "Object{spec: Object.spec{replicas: object.spec.replicas + 1}}",
    onDeployment,
  ),
  apply(
    "apply merges a list by its keys",
    `Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{
      containers: [Object.spec.template.spec.containers{name: 'side', image: 'side:1'}]}}}}`,
    onDeployment,
  ),
  apply(
    "apply changes an item of a list by its keys",
    `Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{
      containers: [Object.spec.template.spec.containers{name: 'a', imagePullPolicy: 'Always'}]}}}}`,
    onDeployment,
  ),
  apply(
    "apply adds init containers with a condition",
    `Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{
      initContainers: has(object.spec.template.spec.initContainers) ? [] : [
        Object.spec.template.spec.initContainers{name: 'init', image: 'init:1', restartPolicy: 'Always'}]}}}}`,
    onDeployment,
  ),
  apply(
    "apply can't set an atomic list",
    `Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{
      tolerations: [Object.spec.template.spec.tolerations{key: 'a', operator: 'Exists'}]}}}}`,
    onDeployment,
  ),
  apply(
    "apply can't set an atomic struct",
    "Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {'app': 'web'}}}}",
    onDeployment,
  ),
  apply("apply refuses an unknown field", "Object{spec: Object.spec{nope: 1}}", onDeployment),
  apply("apply refuses a value of another type", "Object{spec: Object.spec{replicas: 'two'}}", onDeployment),
  apply("apply refuses types of another path", "Object{spec: Object.wrong{replicas: 1}}", onDeployment),
  apply(
    "apply accepts optional fields",
    "Object{?metadata: optional.none(), ?data: optional.of({'x': 'y'})}",
  ),
  apply("apply of nothing", "Object{}"),
  apply("apply of a map instead of an object", "Object{metadata: dyn({'labels': {'a': 'b'}})}"),
  apply("apply must yield an object", "{'metadata': {'labels': {'a': 'b'}}}", { requests: [] }),
  apply("apply of another type than Object", "Object.spec{}", { requests: [] }),
  apply("apply of an unknown type", "Other{}", { requests: [] }),
  apply("apply with a syntax error", "Object{metadata: ", { requests: [] }),
  apply("apply that fails", "Object{data: {'x': object.data.missing}}"),
  apply("apply that fails with the failure policy Ignore", "Object{data: {'x': object.data.missing}}", {
    more: { failurePolicy: "Ignore" },
  }),
  apply("apply to a custom resource", "Object{spec: Object.spec{size: 5, color: 'red'}}", onGadget()),
  apply(
    "apply to a custom resource gets defaults",
    "Object{spec: Object.spec{parts: [Object.spec.parts{name: 'x'}]}}",
    onGadget({ parts: [{ name: "y", count: 1 }] }),
  ),
  apply(
    "apply merges a set of a custom resource",
    "Object{spec: Object.spec{tags: ['b', 'c']}}",
    onGadget({ tags: ["a", "b"] }),
  ),
  apply(
    "apply can't set an atomic list of a custom resource",
    "Object{spec: Object.spec{notes: ['b']}}",
    onGadget({ notes: ["a"] }),
  ),
  apply(
    "apply sets unknown fields where they are preserved",
    "Object{spec: Object.spec{any: Object.spec.any{deep: Object.spec.any.deep{x: 1}}}}",
    onGadget({ any: { other: true } }),
  ),
  apply(
    "apply refuses unknown fields of a custom resource",
    "Object{spec: Object.spec{nope: 1}}",
    onGadget(),
  ),
  apply("apply is validated as the write: a schema", "Object{spec: Object.spec{size: 50}}", onGadget()),
  apply(
    "apply is validated as the write: a built-in kind",
    "Object{spec: Object.spec{replicas: -1}}",
    onDeployment,
  ),
  apply("apply can't set a name", "Object{metadata: Object.metadata{name: 'other'}}"),
  apply(
    "apply sets annotations from the request",
    "Object{metadata: Object.metadata{annotations: {'by': request.userInfo.username, 'what': request.operation}}}",
    {
      requests: [{ ...configMap(), user: "joe" }],
    },
  ),
  apply(
    "apply uses the namespace and the authorizer",
    "Object{data: {'stage': namespaceObject.metadata.labels.stage, 'may': string(authorizer.path('/other').check('get').allowed())}}",
    {
      requests: [{ ...configMap(), user: "joe" }],
    },
  ),
  apply(
    "apply in an update sees the old object",
    "Object{data: {'before': has(oldObject.data) ? oldObject.data.a : 'none'}}",
    {
      objects: [{ path: "configmaps", body: configMap({ a: "old" }).body as object }],
      requests: [
        { ...configMap({ a: "new" }), method: "PUT", path: "configmaps/map" },
        {
          method: "PATCH",
          path: "configmaps/map",
          contentType: "application/merge-patch+json",
          body: { data: { c: "d" } },
        },
      ],
      more: { matchConditions: [{ name: "update", expression: "request.operation == 'UPDATE'" }] },
    },
  ),
  apply("apply to a scale", "Object{spec: Object.spec{replicas: 3}}", {
    objects: [{ path: "deployments", body: deployment().body as object }],
    requests: [
      {
        method: "PUT",
        path: "deployments/web/scale",
        body: {
          apiVersion: "autoscaling/v1",
          kind: "Scale",
          metadata: { name: "web" },
          spec: { replicas: 9 },
        },
      },
    ],
    more: {
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: ["apps"],
            apiVersions: ["v1"],
            operations: ["UPDATE"],
            resources: ["deployments/scale"],
          },
        ],
      },
    },
  }),
  apply("managed fields of a mutated object", "Object{metadata: Object.metadata{labels: {'a': 'b'}}}", {
    requests: [
      { ...configMap(), query: "?fieldManager=me", showsManagers: true },
      {
        method: "PATCH",
        path: "configmaps/applied",
        query: "?fieldManager=me&force=true",
        contentType: "application/apply-patch+yaml",
        body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "applied" }, data: { x: "y" } },
        showsManagers: true,
      },
    ],
  }),
  apply("dry run", "Object{data: {'x': 'y'}}", { requests: [{ ...configMap(), query: "?dryRun=All" }] }),
  apply("null in a configuration", "Object{metadata: Object.metadata{labels: null}}", {
    requests: [configMap({ a: "b" }, { labels: { a: "b" } })],
  }),
  apply("no data at all", "Object{data: {'x': 'y'}}", {
    requests: [
      { path: "configmaps", body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "map" } } },
    ],
  }),
  apply("items without keys", "Object{spec: Object.spec{parts: [Object.spec.parts{count: 1}]}}", onGadget()),
  apply(
    "items with equal keys",
    "Object{spec: Object.spec{parts: [Object.spec.parts{name: 'x'}, Object.spec.parts{name: 'x'}]}}",
    onGadget(),
  ),
];
