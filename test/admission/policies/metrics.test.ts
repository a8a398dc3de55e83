import { expect, test } from "vitest";
import { configMap, CONFIG_MAPS, inForce, withPolicies } from "./support.ts";

const server = withPolicies();

test("metrics count policy checks by enforcement action and state", async () => {
  const counts = async (policy: string): Promise<readonly string[]> => {
    const { text } = await server().admin.get("/metrics");
    const ofPolicy = (line: string) =>
      line.includes("_policy_check_total{") && line.includes(`policy="${policy}"`);
    return text.split("\n").filter(ofPolicy);
  };
  const line = (policy: string, action: string, state: string, count: number) =>
    `apiserver_validating_admission_policy_check_total{enforcement_action="${action}",policy="${policy}",policy_binding="${policy}-b",state="${state}"} ${count}`;

  await inForce(
    server(),
    "counted",
    { validations: ["has(object.data) && 'a' in object.data"] },
    async () => {
      await server().admin.post(CONFIG_MAPS, configMap("counted-1", { a: "1" }));
      await server().admin.post(CONFIG_MAPS, configMap("counted-2", { a: "1" }));
      await server().admin.post(CONFIG_MAPS, configMap("counted-3", { b: "1" }));
    },
  );
  expect(await counts("counted")).toEqual([
    line("counted", "allow", "active", 2),
    line("counted", "deny", "active", 1),
  ]);

  for (const [failurePolicy, action] of [
    ["Fail", "deny"],
    ["Ignore", "allow"],
  ] as const) {
    const name = `failing-${failurePolicy.toLowerCase()}`;
    await inForce(server(), name, { validations: ["object.data.none == 'a'"], spec: { failurePolicy } }, () =>
      server().admin.post(CONFIG_MAPS, configMap(name, { b: "1" })),
    );
    expect(await counts(name)).toEqual([line(name, action, "error", 1)]);
  }
  const { text } = await server().admin.get("/metrics");
  const observed = `apiserver_validating_admission_policy_check_duration_seconds_count{enforcement_action="allow",policy="counted",policy_binding="counted-b",state="active"} 2`;
  expect(text).toContain(observed);
});
