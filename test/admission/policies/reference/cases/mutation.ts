import { configMap, type Case, type Request } from "../case.ts";

export interface MutationCase {
  readonly apply?: string;
  readonly patch?: string;
}

export const mutationOf = ({ apply, patch }: MutationCase): object =>
  apply === undefined
    ? { patchType: "JSONPatch", jsonPatch: { expression: patch } }
    : { patchType: "ApplyConfiguration", applyConfiguration: { expression: apply } };

/** The spec of a policy with mutations. */
export const spec = (mutations: readonly MutationCase[], more: object = {}): object => ({
  reinvocationPolicy: "Never",
  mutations: mutations.map(mutationOf),
  ...more,
});

/** A policy with mutations, and requests; by default the creation of a ConfigMap. */
export const mutates = (
  name: string,
  mutations: readonly MutationCase[],
  { more = {}, ...rest }: Partial<Case> & { readonly more?: object } = {},
): Case => ({ name, mutating: [{ spec: spec(mutations, more) }], requests: [configMap()], ...rest });

export const apply = (name: string, expression: string, rest: Parameters<typeof mutates>[2] = {}): Case =>
  mutates(name, [{ apply: expression }], rest);
export const patch = (name: string, expression: string, rest: Parameters<typeof mutates>[2] = {}): Case =>
  mutates(name, [{ patch: expression }], rest);

const podSpec = { containers: [{ name: "a", image: "a:1" }] };
export const deployment = (change: object = {}): Request => ({
  path: "deployments",
  body: {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", labels: { app: "web" } },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: "web" } },
      template: { metadata: { labels: { app: "web" } }, spec: podSpec },
      ...change,
    },
  },
});
const gadget = (fields: object = {}): Request => ({
  path: "gadgets",
  body: { apiVersion: "example.com/v1", kind: "Gadget", metadata: { name: "one" }, spec: fields },
});
export const onDeployment = { requests: [deployment()] };
export const onGadget = (fields: object = {}) => ({ requests: [gadget(fields)] });

/** A mutation that sets a label. */
export const labels = (name: string, value = "'x'") => ({
  apply: `Object{metadata: Object.metadata{labels: {'${name}': ${value}}}}`,
});
