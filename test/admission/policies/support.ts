import { afterAll, beforeAll } from "vitest";
import type { CreateServerOptions } from "../../../src/index.ts";
import { ok } from "../../api/support.ts";
import { TestServer } from "../../support/api.ts";

const GROUP = "/apis/admissionregistration.platform.io/v1alpha1";
export const POLICIES = `${GROUP}/validatingadmissionpolicies`;
export const BINDINGS = `${GROUP}/validatingadmissionpolicybindings`;
export const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

/** Options that enable validating admission policies. */
export const policiesOn: CreateServerOptions = {
  featureGates: "ValidatingAdmissionPolicy=true",
  runtimeConfig: "admissionregistration.platform.io/v1alpha1=true",
  controllers: [],
};

/** Starts a server with policies enabled for the tests of a file or block. */
export function withPolicies(options: CreateServerOptions = policiesOn): () => TestServer {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start(options);
  });
  afterAll(() => server.close());
  return () => server;
}

export const configMapRule = {
  apiGroups: [""],
  apiVersions: ["v1"],
  operations: ["CREATE", "UPDATE"],
  resources: ["configmaps"],
};

interface PolicyParts {
  readonly validations: readonly (string | object)[];
  readonly rule?: object;
  readonly constraints?: object;
  readonly spec?: object;
  readonly binding?: object;
}

export function policy(name: string, { validations, rule, constraints, spec }: PolicyParts): object {
  return {
    metadata: { name },
    spec: {
      matchConstraints: { resourceRules: [{ ...configMapRule, ...rule }], ...constraints },
      validations: validations.map((one) => (typeof one === "string" ? { expression: one } : one)),
      ...spec,
    },
  };
}

/** Creates a policy and its binding, runs `work`, and removes both. */
export async function inForce<T>(
  { admin }: TestServer,
  name: string,
  parts: PolicyParts,
  work: () => Promise<T>,
): Promise<T> {
  await ok(admin.post(POLICIES, policy(name, parts)));
  await ok(
    admin.post(BINDINGS, { metadata: { name: `${name}-b` }, spec: { policyName: name, ...parts.binding } }),
  );
  try {
    return await work();
  } finally {
    await ok(admin.delete(`${BINDINGS}/${name}-b`));
    await ok(admin.delete(`${POLICIES}/${name}`));
  }
}

export const configMap = (name: string, data: object = {}, metadata: object = {}) => ({
  metadata: { name, ...metadata },
  data,
});
