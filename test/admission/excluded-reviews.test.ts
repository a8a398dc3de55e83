import { expect, it } from "vitest";
import type { Release } from "../../src/base/releases.ts";
import { ok } from "../api/support.ts";
import { TestServer, type Api } from "../support/api.ts";

const reviews: readonly [url: string, body: object][] = [
  ["/apis/authentication.k8s.io/v1/tokenreviews", { spec: { token: "x" } }],
  [
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    { spec: { nonResourceAttributes: { path: "/", verb: "get" } } },
  ],
  ["/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", { spec: { namespace: "default" } }],
  [
    "/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews",
    { spec: { user: "u", resourceAttributes: { namespace: "default", verb: "get", resource: "pods" } } },
  ],
];
const group = "/apis/admissionregistration.k8s.io";
const everything = [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"] }];
/** A webhook that can't be called, so that each matching request fails. */
const webhook = (rules: object[]) => ({
  name: "w.example.com",
  clientConfig: { url: "https://127.0.0.1:1/" },
  rules,
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
  timeoutSeconds: 1,
});

async function statuses(
  release: Release,
  prepare: (admin: Api) => Promise<void>,
  options: object = {},
): Promise<readonly number[]> {
  const server = await TestServer.start({ release, vocabulary: "kubernetes", ...options });
  try {
    await prepare(server.admin);
    const result: number[] = [];
    for (const [url, body] of reviews) result.push((await server.admin.post(url, body)).status);
    const maps = "/api/v1/namespaces/default/configmaps";
    result.push((await server.admin.post(maps, { metadata: { name: "m" } })).status);
    return result;
  } finally {
    await server.close();
  }
}

it.each(["validating", "mutating"])(
  "%s webhooks don't receive reviews from release 1.37 on",
  async (type) => {
    const prepare = async (admin: Api) => {
      const url = `${group}/v1/${type}webhookconfigurations`;
      await ok(admin.post(url, { metadata: { name: "w" }, webhooks: [webhook(everything)] }));
    };
    expect(await statuses("1.36", prepare)).toEqual([500, 500, 500, 500, 500]);
    expect(await statuses("1.37", prepare)).toEqual([201, 201, 201, 201, 500]);
    const featureGates = "ExcludeAdmissionWebhookVirtualResources=false";
    expect(await statuses("1.37", prepare, { featureGates })).toEqual([500, 500, 500, 500, 500]);
  },
);

it("policies don't receive reviews from release 1.30 on", async () => {
  const prepareIn = (version: string) => async (admin: Api) => {
    const spec = {
      matchConstraints: { resourceRules: everything },
      validations: [{ expression: "false" }],
    };
    await ok(
      admin.post(`${group}/${version}/validatingadmissionpolicies`, { metadata: { name: "p" }, spec }),
    );
    const binding = { policyName: "p", validationActions: ["Deny"] };
    const bindings = `${group}/${version}/validatingadmissionpolicybindings`;
    await ok(admin.post(bindings, { metadata: { name: "b" }, spec: binding }));
  };
  const options = {
    featureGates: "ValidatingAdmissionPolicy=true",
    runtimeConfig: "admissionregistration.k8s.io/v1beta1=true",
  };
  expect(await statuses("1.29", prepareIn("v1beta1"), options)).toEqual([422, 422, 422, 422, 422]);
  expect(await statuses("1.30", prepareIn("v1"))).toEqual([201, 201, 201, 201, 422]);
});

it("a rule that names a review has a warning, one with a wildcard has none", async () => {
  const server = await TestServer.start({ release: "1.37", vocabulary: "kubernetes" });
  try {
    const rule = (apiGroups: string[], resources: string[]) => ({ ...everything[0], apiGroups, resources });
    const rules = [
      rule(["*"], ["tokenreviews"]),
      rule(["authentication.k8s.io", ""], ["pods", "tokenreviews"]),
      rule(["authorization.k8s.io"], ["tokenreviews"]),
    ];
    const url = `${group}/v1/validatingwebhookconfigurations`;
    const { headers } = await ok(
      server.admin.post(url, { metadata: { name: "w" }, webhooks: [webhook(rules)] }),
    );
    expect(headers["warning"]).toContain(
      "webhooks[0].rules[1]: tokenreviews.authentication.k8s.io is excluded from admission webhooks",
    );
    expect(String(headers["warning"]).split("webhooks[0]")).toHaveLength(2);
  } finally {
    await server.close();
  }
});
