import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestServer, type Api } from "../support/api.ts";
import { effort } from "../support/effort.ts";
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

/** One dry run in this number is replayed, to save time; all of them in the long form of the tests. */
const samplings = {
  /** Of those for the first release. */
  first: effort(16, 1),
  /** Of those for a later release that the first one answers in the same way, or has no answer to. */
  same: effort(96, 1),
  /** Of those for a later release whose answers differ. */
  different: effort(16, 1),
};

/** Returns the steps of a case that are replayed: all that change something, and a sample of the dry runs. */
function replayedSteps(corpus: string, release: Release, title: string): (step: string) => boolean {
  const dryRuns = dryRunsOf(corpus, readAnswers(corpus, release).get(title)!);
  const first = release === "1.26" ? undefined : readAnswers(corpus, "1.26").get(title);
  const texts = first && new Set(first.map((told) => JSON.stringify(told)));
  const every = (told: Told) => {
    if (release === "1.26") return samplings.first;
    return (texts?.has(JSON.stringify(told)) ?? true) ? samplings.same : samplings.different;
  };
  // Another part of each case.
  const offset = title.length;
  const skipped = dryRuns.filter((told, index) => (index + offset) % every(told) !== 0);
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
    if (samplings.first > 1) return;
    test("each reason why a difference is held right is needed", () => {
      const needed = reasons.filter(({ releases }) => release === "1.26" || releases !== undefined);
      expect(needed.filter((reason) => !used.has(reason)).map(({ because }) => because)).toEqual([]);
    });
  });
}
