import { expect, test } from "vitest";
import { RBAC } from "./support.ts";
import { useServer } from "../support/use-server.ts";

const server = useServer();

/** As in the reference, which stores an empty list as absent: the field is always present, so clients read null. */
test("an empty list field that is always present is null, whether it was sent or not", async () => {
  const roles = `${RBAC}/namespaces/default/roles`;
  for (const [name, given] of Object.entries({ empty: { rules: [] }, none: {} })) {
    const made = await server.admin.post(roles, { metadata: { name }, ...given });
    expect(made).toMatchObject({ status: 201, body: { rules: null } });
    expect((await server.admin.get(`${roles}/${name}`)).body).toMatchObject({ rules: null });
  }
  // The fields that were sent are owned nevertheless.
  const { body } = await server.admin.post(roles, { metadata: { name: "owned" }, rules: [] });
  const { metadata } = body as { metadata: { managedFields: { fieldsV1: object }[] } };
  expect(metadata.managedFields[0]!.fieldsV1).toMatchObject({ "f:rules": {} });
});

test("each invalid selector of an aggregation rule has its own cause", async () => {
  const clusterRoleSelectors = [
    { matchLabels: { good: "yes" } },
    { matchExpressions: [{ key: "a", operator: "In" }] },
    { matchLabels: { "-bad": "yes" } },
  ];
  const { status, body } = await server.admin.post(`${RBAC}/clusterroles`, {
    metadata: { name: "aggregated" },
    aggregationRule: { clusterRoleSelectors },
  });
  expect(status).toBe(422);
  const { causes } = (body as { details: { causes: { reason: string; field: string }[] } }).details;
  const place = "aggregationRule.clusterRoleSelectors";
  expect(causes.map(({ field, reason }) => `${field}: ${reason}`)).toEqual([
    `${place}[1].matchExpressions[0].values: FieldValueRequired`,
    `${place}[1]: FieldValueInvalid`,
    `${place}[2].matchLabels: FieldValueInvalid`,
    `${place}[2]: FieldValueInvalid`,
  ]);
});
