import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestServer, type Api } from "../support/api.ts";
import { readAnswers } from "./answers.ts";
import { held, type Difference } from "./held.ts";
import type { Told } from "./life.ts";
import { live } from "./phases/all.ts";
import { namespace, subjects, type Subject } from "./subject.ts";

/**
 * The same life for an object of each kind, in each version that can be served: some 270 requests, of which many have faults,
 * and what each answer says against what kube-apiserver said to it. A difference that isn't held right, with its reason, fails.
 */
describe("every kind lives as on the reference", () => {
  let server: TestServer;
  let admin: Api;
  let scratch: string;
  const used = new Set<string>();

  beforeAll(async () => {
    scratch = mkdtempSync(path.join(tmpdir(), "plinth-lives-"));
    const tokenAuthFile = path.join(scratch, "tokens.csv");
    // As on the server whose answers are recorded: who asks stands in certificate requests.
    writeFileSync(tokenAuthFile, 'admintoken,admin,admin-uid,"system:masters"\n');
    server = await TestServer.start({
      tokenAuthFile,
      vocabulary: "kubernetes",
      runtimeConfig: "api/all=true",
      featureGates: "ValidatingAdmissionPolicy=true,DynamicResourceAllocation=true,NetworkPolicyStatus=true",
      flow: { fair: false, maxReading: 400, maxChanging: 200 },
      disabledAdmissionPlugins: ["ServiceAccount"],
      enabledControllers: [],
    });
    admin = server.as("admintoken");
    await admin.post("/api/v1/namespaces", { metadata: { name: namespace } });
  });
  afterAll(async () => {
    await server.close();
    rmSync(scratch, { recursive: true, force: true });
  });

  test.each(subjects().map((subject) => [subject.in, subject] as const))("%s", async (_in, subject) => {
    const told = await live(subject, (method, at, options) => admin.ask(method, at, options));
    const found = differences(subject, told);
    expect(found.filter((one) => !isHeld(one, used)).map(texts)).toEqual([]);
  });

  test("each reason why a difference is held right is needed", () => {
    expect(held.map(({ because }) => because).filter((because) => !used.has(because))).toEqual([]);
  });
});

function differences(subject: Subject, told: readonly Told[]): Difference[] {
  const expected = readAnswers(subject);
  expect(told.map(({ step }) => step)).toEqual(expected.map(({ step }) => step));
  return told.flatMap((ours, at) => {
    const theirs = expected[at]!;
    const missing = theirs.lines.filter((line) => !ours.lines.includes(line));
    const more = ours.lines.filter((line) => !theirs.lines.includes(line));
    if (theirs.status === ours.status && missing.length + more.length === 0) return [];
    return [{ kind: subject.in, step: ours.step, theirs, ours, missing, more }];
  });
}

function isHeld(difference: Difference, used: Set<string>): boolean {
  const found = held.find(({ when }) => when(difference));
  if (found !== undefined) used.add(found.because);
  return found !== undefined;
}

function texts({ step, theirs, ours, missing, more }: Difference): string {
  const facts = [...missing.map((line) => `- ${line}`), ...more.map((line) => `+ ${line}`)];
  return [`${step}: ${theirs.status} there, ${ours.status} here`, ...facts].join("\n");
}
