import { afterEach, expect, test } from "vitest";
import type { AdmissionPlugin, AdmissionRequest } from "../../src/index.ts";
import { ok } from "../api/support.ts";
import { TestServer } from "../support/api.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const concerns: AdmissionPlugin["concerns"] = (operation, { resource }) =>
  operation === "CREATE" && resource.name === "configmaps";
const failures: unknown[] = [];
const log = {
  info: () => undefined,
  warn: () => undefined,
  error: (facts: object) => void failures.push(facts),
};

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
  failures.length = 0;
});

async function start(plugin: Omit<AdmissionPlugin, "concerns">): Promise<TestServer> {
  return (server = await TestServer.start({
    log,
    controllers: [],
    admissionPlugins: [{ concerns, ...plugin }],
  }));
}

test("an extension's warnings reach the client and its state the validating phase", async () => {
  class Names {
    readonly names: string[] = [];
  }
  const { admin } = await start({
    name: "Warns",
    mutate: ({ effects, user }) => void effects.state(Names).names.push(user.name),
    validate: ({ effects }) => effects.warn(`written by ${effects.state(Names).names.join()}`),
  });
  const { headers } = await ok(admin.post(maps, { metadata: { name: "a" } }));
  expect(String(headers["warning"])).toContain("written by ");
});

test("an extension is called a second time when it requests reinvocation", async () => {
  const calls: boolean[] = [];
  const { admin } = await start({
    name: "Reinvokes",
    mutate({ reinvocation, effects }: AdmissionRequest) {
      calls.push(reinvocation);
      if (!reinvocation) effects.requestReinvocation();
    },
  });
  await ok(admin.post(maps, { metadata: { name: "a" } }));
  expect(calls).toEqual([false, true]);
});

test.each([
  ["committed", ""],
  ["not committed", "?dryRun=All"],
])('an extension receives the outcome "%s" when the query is "%s"', async (outcome, query) => {
  const outcomes: string[] = [];
  const { admin } = await start({
    name: "Listens",
    validate: ({ effects }) => effects.onOutcome((result) => void outcomes.push(result)),
  });
  await admin.post(`${maps}${query}`, { metadata: { name: "a" } });
  expect(outcomes).toEqual([outcome]);
});

test("a listener of an extension that throws is logged and doesn't change the response", async () => {
  const { admin } = await start({
    name: "Throws",
    validate({ effects }) {
      effects.onOutcome(() => {
        throw new TypeError("broken");
      });
    },
  });
  await ok(admin.post(maps, { metadata: { name: "a" } }));
  expect(failures).toMatchObject([{ extension: 'admission plugin "Throws"' }]);
});
