import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestServer } from "../../../support/api.ts";
import { cases } from "./cases/index.ts";
import { differences } from "./differences.ts";
import { readOutcomes } from "./outcome-file.ts";
import { runCases, type Outcomes } from "./run.ts";

let server: TestServer;
let outcomes: ReadonlyMap<string, Outcomes>;

beforeAll(async () => {
  server = await TestServer.start({
    release: "1.37",
    vocabulary: "kubernetes",
    users: [{ name: "joe", groups: ["devs"] }],
    disabledAdmissionPlugins: ["ServiceAccount"],
    controllers: [],
  });
  outcomes = await runCases(
    { admin: server.admin, joe: server.as("joe") },
    cases,
    "c",
    async () => undefined,
  );
});
afterAll(() => server.close());

const recorded = readOutcomes();

describe("policies answer as kube-apiserver 1.37", () => {
  test.each(cases.map(({ name }) => name))("%s", (name) => {
    expect(outcomes.get(name)).toEqual(differences.get(name)?.outcome ?? recorded.get(name));
  });

  test("every difference from the reference is one", () => {
    for (const [name, { outcome }] of differences) expect(outcome, name).not.toEqual(recorded.get(name));
  });
});
