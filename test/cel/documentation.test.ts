import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { bind, compile } from "../../src/cel/compile.ts";
import { languageOf } from "../../src/cel/libraries.ts";
import { dyn } from "../../src/cel/types/types.ts";
import { ok } from "../api/support.ts";
import { policiesOn } from "../admission/policies/support.ts";
import { TestServer } from "../support/api.ts";
import { read } from "../tidy/source-files.ts";
import { blockOf } from "../support/pages.ts";

const page = read("docs/cel.md");
const documents = (text: string) => parseAllDocuments(text).map((one) => one.toJS());

describe("docs/cel.md", () => {
  const environment = { variables: new Map([["object", dyn]]) };
  const [object] = documents(blockOf("docs/cel.md", "yaml object"));

  test.each(blockOf("docs/cel.md", "cel").trim().split("\n"))("%s", (expression) => {
    const { program, faults } = compile(expression, environment);
    expect(faults).toBeUndefined();
    expect(program!.evaluate(bind(environment, { object }), 1_000)).toMatchObject({ value: true });
  });

  test("names every function of the libraries", () => {
    const named = (name: string) => page.includes(`\`${name}\``) || page.includes(`${name}(`);
    const own = [...languageOf("1.37", "stored").functions.keys()].filter((name) =>
      /^[a-zA-Z]\w*$/.test(name),
    );
    const otherFunctions = new Set(
      "getFullYear getMonth getDayOfYear getDayOfMonth getDayOfWeek getDate getMinutes getSeconds getMilliseconds uint double bool string bytes dyn".split(
        " ",
      ),
    );
    expect(own.filter((name) => !named(name) && !otherFunctions.has(name))).toEqual([]);
  });
});

describe("the policy of docs/cel.md", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start(policiesOn);
  });
  afterAll(() => server.close());

  test("denies the requests that the page describes", async () => {
    const [policy, binding, params] = documents(blockOf("docs/cel.md", "yaml policy"));
    const group = "/apis/admissionregistration.platform.io/v1alpha1";
    await ok(server.admin.post("/api/v1/namespaces/default/configmaps", params));
    await ok(server.admin.post(`${group}/validatingadmissionpolicies`, policy));
    await ok(server.admin.post(`${group}/validatingadmissionpolicybindings`, binding));
    const deployment = (replicas: number, image: string) => ({
      metadata: { name: "web" },
      spec: {
        replicas,
        selector: { matchLabels: { app: "web" } },
        template: {
          metadata: { labels: { app: "web" } },
          spec: { containers: [{ name: "c", image }] },
        },
      },
    });
    const path = "/apis/apps/v1/namespaces/default/deployments";
    const many = await server.admin.post(path, deployment(6, "example.com/i"));
    expect([many.status, many.body.message]).toEqual([403, blockOf("docs/cel.md", "text denial").trim()]);
    expect((await server.admin.post(path, deployment(1, "elsewhere/i"))).status).toBe(422);
    await ok(server.admin.post(path, deployment(5, "example.com/i")));
  });
});
