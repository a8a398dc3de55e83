import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AuditedServer } from "../../audit/support.ts";
import { ok } from "../../api/support.ts";
import { configMap, CONFIG_MAPS, configMapRule } from "./support.ts";

const GROUP = "/apis/admissionregistration.platform.io/v1";
let audited: AuditedServer;
beforeAll(async () => {
  audited = await AuditedServer.start("rules: [{level: Metadata}]", { release: "1.30" });
});
afterAll(() => audited.close());

/** Creates a policy with two bindings. */
async function bind(name: string, spec: object, ...actions: string[][]): Promise<void> {
  const { admin } = audited.api;
  const rules = { matchConstraints: { resourceRules: [configMapRule] } };
  for (const [index, validationActions] of actions.entries()) {
    const binding = { metadata: { name: `${name}-${index}` }, spec: { policyName: name, validationActions } };
    await ok(admin.post(`${GROUP}/validatingadmissionpolicybindings`, binding));
  }
  const policy = { metadata: { name }, spec: { ...rules, ...spec } };
  await ok(admin.post(`${GROUP}/validatingadmissionpolicies`, policy));
}

/** Returns the annotations of the audit event of a create. */
async function annotationsOf(name: string): Promise<Record<string, string>> {
  const { headers } = await audited.api.admin.post(CONFIG_MAPS, configMap(name));
  const events = await audited.events(headers["audit-id"]);
  return (events.at(-1) as { annotations?: Record<string, string> }).annotations ?? {};
}

describe("policies in the audit log", () => {
  test("record findings of bindings with the action Audit, and the values of audit annotations once", async () => {
    const auditAnnotations = [
      { key: "name", valueExpression: "'name ' + object.metadata.name" },
      { key: "none", valueExpression: "null" },
    ];
    const spec = { validations: [{ expression: "false", message: "found" }], auditAnnotations };
    await bind("audits", spec, ["Audit"], ["Audit", "Warn"]);
    const annotations = await annotationsOf("a");
    expect(annotations["audits/name"]).toBe("name a");
    expect(annotations).not.toHaveProperty(["audits/none"]);
    const found = (index: number, ...validationActions: string[]) => ({
      message: "found",
      policy: "audits",
      binding: `audits-${index}`,
      expressionIndex: 0,
      validationActions,
    });
    const findings = annotations["validation.policy.admission.platform.io/validation_failure"]!;
    expect(JSON.parse(findings)).toEqual([found(0, "Audit"), found(1, "Audit", "Warn")]);
  });

  test("deny a request whose audit annotation fails, if the failure policy is Fail", async () => {
    const auditAnnotations = [{ key: "bad", valueExpression: "string(1 / 0)" }];
    await bind("fails", { auditAnnotations }, ["Audit"]);
    const { status, body } = await audited.api.admin.post(CONFIG_MAPS, configMap("b"));
    expect([status, body["message"]]).toEqual([422, expect.stringContaining("division by zero")]);
  });
});
