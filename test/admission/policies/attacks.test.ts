import { describe, expect, test } from "vitest";
import type { Answer, Api } from "../../support/api.ts";
import { ok } from "../../api/support.ts";
import { BINDINGS, configMap, CONFIG_MAPS, inForce, POLICIES, policy, withPolicies } from "./support.ts";

const runaway = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]";
/** Exceeds the cost limit of one expression. */
const endless = `${Array.from({ length: 7 }, (_, level) => `${runaway}.all(x${level}, `).join("")}true${")".repeat(7)}`;
/** Has a cost of about 900,000. */
const expensive = `${Array.from({ length: 5 }, (_, level) => `${runaway}.all(x${level}, `).join("")}x0 + x1 > 0${")".repeat(5)}`;

/** Counts the sequential requests that are answered before `other` is. */
async function answeredMeanwhile(
  admin: Api,
  other: Promise<Answer>,
): Promise<{ answer: Answer; answered: number }> {
  let answered = 0;
  let done = false;
  const ended = other.then((answer) => {
    done = true;
    return answer;
  });
  while (!done) {
    await ok(admin.get("/api/v1/namespaces/default"));
    answered++;
  }
  return { answer: await ended, answered: answered - 1 };
}

describe("policies of maximal cost", () => {
  const server = withPolicies();

  test("an expression over the cost limit returns 422 with failurePolicy Fail, and is ignored with Ignore", async () => {
    const { admin } = server();
    await inForce(server(), "endless", { validations: [endless] }, async () => {
      const { status, body } = await admin.post(CONFIG_MAPS, configMap("endless"));
      expect([status, body.message]).toEqual([422, expect.stringContaining("actual cost limit exceeded")]);
    });
    const spec = { failurePolicy: "Ignore" };
    await inForce(server(), "ignored", { validations: [endless], spec }, () =>
      ok(admin.post(CONFIG_MAPS, configMap("ignored"))),
    );
  });

  test("20 policies share one cost budget, and other requests are answered during the evaluation", async () => {
    const { admin } = server();
    for (let index = 0; index < 20; index++) {
      const name = `costly-${index}`;
      await ok(admin.post(POLICIES, policy(name, { validations: [expensive] })));
      await ok(admin.post(BINDINGS, { metadata: { name }, spec: { policyName: name } }));
    }
    const { answer, answered } = await answeredMeanwhile(admin, admin.post(CONFIG_MAPS, configMap("costly")));
    expect([answer.status, answer.body.message]).toEqual([
      422,
      expect.stringContaining("running out of cost budget"),
    ]);
    expect(answered).toBeGreaterThan(3);
    for (let index = 0; index < 20; index++) {
      await ok(admin.delete(`${BINDINGS}/costly-${index}`));
      await ok(admin.delete(`${POLICIES}/costly-${index}`));
    }
  });

  test.each([
    [
      "a policy with many large expressions",
      Array.from({ length: 20 }, (_, at) => `[${`${at},`.repeat(30_000)}1].size() > 0`),
    ],
    ["a policy with many small expressions", Array.from({ length: 20_000 }, () => "1 == 1")],
    ["a policy with many invalid expressions", Array.from({ length: 20_000 }, () => "(")],
  ])("other requests are answered while %s is written", async (_, validations) => {
    const { admin } = server();
    const writing = admin.post(POLICIES, policy("large", { validations }));
    const { answer, answered } = await answeredMeanwhile(admin, writing);
    const { status } = answer;
    expect([201, 422]).toContain(status);
    expect(answered).toBeGreaterThan(0);
    if (status === 201) await ok(admin.delete(`${POLICIES}/large`));
    await ok(admin.get("/api/v1/namespaces/default"));
  });

  test("hostile expressions return 422, and the server answers further requests", async () => {
    const { admin } = server();
    for (const expression of [
      "\u0000",
      "\ud800",
      "(".repeat(90_000),
      `'${"👑".repeat(200_000)}'`,
      "a".repeat(99_999),
    ]) {
      const { status } = await admin.post(POLICIES, policy("hostile", { validations: [expression] }));
      expect(status).toBe(422);
    }
    await ok(admin.get("/api/v1/namespaces/default"));
  });
});
