import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { TestServer, type Api } from "../support/api.ts";
import { ok } from "../api/support.ts";
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

/**
 * Time of the servers, which stands still: the requests of a case were recorded within a second, and objects have their times in seconds.
 * On a busy machine two writes that are the same would differ in their time.
 */
const startMs = Date.now();

/** One request in this number of those that change nothing is replayed, to save time; all of them in the long form of the tests. */
const samplings = {
  /** Of those for the first release. */
  first: effort(32, 1),
  /** Of those for a later release that the first one answers in the same way, or has no answer to. */
  same: effort(192, 1),
  /** Of those for a later release whose answers differ. */
  different: effort(32, 1),
};

/** Chooses the requests of a case that are replayed among those that change nothing, and remembers the others. */
class Sample {
  readonly skipped = new Set<string>();
  private readonly first: ReadonlyMap<string, string> | undefined;
  private readonly later: ReadonlyMap<string, string>;
  private index: number;

  constructor(title: string, first: readonly Told[] | undefined, answers: readonly Told[]) {
    this.first = first && byStep(first);
    this.later = byStep(answers);
    // Another part of each case.
    this.index = title.length;
  }

  readonly isAsked = (step: string): boolean => {
    if (this.index++ % this.every(step) === 0) return true;
    this.skipped.add(step);
    return false;
  };

  private every(step: string): number {
    if (this.first === undefined) return samplings.first;
    const before = this.first.get(step);
    return before === undefined || before === this.later.get(step) ? samplings.same : samplings.different;
  }
}

/** Answers as texts, by their steps. */
function byStep(answers: readonly Told[]): ReadonlyMap<string, string> {
  return new Map(answers.map((told) => [told.step, JSON.stringify(told)]));
}

/** Where the requests go: the server's own objects, those of a workspace, or those of a branch of the server. */
export type Place = "server" | "workspace" | "branch";

/** Makes the place, and returns the beginning of its paths. */
async function entered(admin: Api, place: Place): Promise<string> {
  if (place === "server") return "";
  const spec = place === "branch" ? { from: {} } : {};
  await ok(admin.post("/apis/tenancy.k8s.io/v1alpha1/workspaces", { metadata: { name: place }, spec }));
  return `/clusters/${place}`;
}

/**
 * Asks a server of a release for all that a corpus asks for, and holds what each answer says against what the kube-apiserver of
 * that release said. A difference that isn't held right, with its reason, fails.
 */
export function suiteOf(
  { name, cases, held }: Corpus,
  release: Release = "1.26",
  place: Place = "server",
): void {
  describe(`${name} of release ${release}${place === "server" ? "" : ` in a ${place}`}`, () => {
    let start: string;
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
        clock: { ...systemClock, now: () => startMs },
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
      start = await entered(admin, place);
      await ok(admin.post(`${start}/api/v1/namespaces`, { metadata: { name: namespace } }));
    });
    afterAll(async () => {
      await server.close();
      rmSync(scratch, { recursive: true, force: true });
    });

    const reasons = held(release);
    const recorded = readAnswers(name, release);
    const first = release === "1.26" ? undefined : readAnswers(name, "1.26");
    const named = cases(release).map((one) => [one.name, one] as const);
    test.each(named)("%s", { timeout: effort(60_000, 300_000) }, async (title, { kind, tell }) => {
      const all = recorded.get(title)!;
      const sample = new Sample(title, first?.get(title), all);
      const told = await tell(
        (method, at, options) => admin.ask(method, start + at, options),
        sample.isAsked,
      );
      const expected = all.filter(({ step }) => !sample.skipped.has(step));
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
