import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestServer, type Api } from "../support/api.ts";
import { readAnswers } from "./answers.ts";
import { differences, unheld, type Held } from "./comparison.ts";
import type { Corpus } from "./corpora.ts";
import type { Told } from "./life.ts";
import { namespace, type Release } from "./subject.ts";

/** The feature gates of the servers whose answers are recorded. */
const featureGates: Readonly<Record<Release, string>> = {
  "1.26":
    "ValidatingAdmissionPolicy=true,DynamicResourceAllocation=true,NetworkPolicyStatus=true,APISelfSubjectReview=true",
  "1.37": "",
};

/** Of the dry runs for a later release that 1.26 answers in the same way or doesn't know, one in this number is replayed, to save time. */
const sampling = process.env["PLINTH_LIVES"] === "all" ? 1 : 8;

/**
 * Returns the steps of a case that are replayed: for release 1.26 all, for a later one a sample of the dry runs, and all whose answers
 * differ from those of 1.26 to the same case.
 */
function replayedSteps(corpus: string, release: Release, title: string): (step: string) => boolean {
  if (release === "1.26") return () => true;
  const answers = readAnswers(corpus, release).get(title)!;
  const sampled = dryRunsOf(corpus, answers);
  const before = readAnswers(corpus, "1.26").get(title);
  const texts = before && new Set(before.map((told) => JSON.stringify(told)));
  const skipped = sampled.filter(
    (told, index) => index % sampling !== 0 && (texts?.has(JSON.stringify(told)) ?? true),
  );
  const steps = new Set(skipped.map(({ step }) => step));
  return (step) => !steps.has(step);
}

/** Returns the answers to requests that change nothing and aren't needed by later ones. */
function dryRunsOf(corpus: string, answers: readonly Told[]): readonly Told[] {
  if (corpus === "members") return answers.filter(({ step }) => step !== "fresh");
  return corpus === "lives"
    ? answers.slice(
        1,
        answers.findIndex(({ step }) => step === "create"),
      )
    : [];
}

/**
 * Asks a server of a release for all that a corpus asks for, and holds what each answer says against what the kube-apiserver of
 * that release said. A difference that isn't held right, with its reason, fails.
 */
export function suiteOf({ name, cases, held }: Corpus, release: Release = "1.26"): void {
  describe(`${name} of release ${release}`, () => {
    let server: TestServer;
    let admin: Api;
    let scratch: string;
    const used = new Set<Held>();

    beforeAll(async () => {
      scratch = mkdtempSync(path.join(tmpdir(), "plinth-lives-"));
      const tokenAuthFile = path.join(scratch, "tokens.csv");
      // As on the server whose answers are recorded: who asks stands in certificate requests.
      writeFileSync(
        tokenAuthFile,
        'admintoken,admin,admin-uid,"system:masters"\nusertoken,joe,joe-uid,"devs"\n',
      );
      server = await TestServer.start({
        tokenAuthFile,
        vocabulary: "kubernetes",
        release,
        authentication: { serviceAccounts: { issuers: ["https://api"] } },
        runtimeConfig: "api/all=true",
        featureGates: featureGates[release],
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

    const reasons = held(release);
    const recorded = readAnswers(name, release);
    const named = cases(release).map((one) => [one.name, one] as const);
    test.each(named)("%s", { timeout: 60_000 }, async (title, { kind, tell }) => {
      const isAsked = replayedSteps(name, release, title);
      const told = await tell((method, at, options) => admin.ask(method, at, options), isAsked);
      const expected = recorded.get(title)!.filter(({ step }) => isAsked(step));
      expect(told.map(({ step }) => step)).toEqual(expected.map(({ step }) => step));
      expect(unheld(differences(kind, told, expected), reasons, used)).toEqual([]);
    });

    // A sample needn't have what every reason is for.
    if (release !== "1.26" && sampling > 1) return;
    test("each reason why a difference is held right is needed", () => {
      const needed = reasons.filter(({ releases }) => release === "1.26" || releases !== undefined);
      expect(needed.filter((reason) => !used.has(reason)).map(({ because }) => because)).toEqual([]);
    });
  });
}
