import { act, actions } from "./actions.ts";
import { ofRelease, type Held } from "./comparison.ts";
import { heldOfActions } from "./held-of-actions.ts";
import { heldOfLives } from "./held-of-lives.ts";
import { heldOfMembers } from "./held-of-members.ts";
import type { Ask, Told } from "./life.ts";
import { askForMembers } from "./members.ts";
import { live } from "./phases/all.ts";
import { subjects, wholeObjects, type Release, type Subject } from "./subject.ts";

/** Requests about one thing. */
export interface Case {
  readonly name: string;
  /** What it is about, such as `apis/apps/v1/deployments`. */
  readonly kind: string;
  /** Sends the requests; `isAsked` selects among the requests that change nothing. */
  readonly tell: (ask: Ask, isAsked?: (step: string) => boolean) => Promise<readonly Told[]>;
}

/** Requests about many things, and the reasons for which some answers differ from the recorded ones. */
export interface Corpus {
  readonly name: string;
  readonly cases: (release: Release) => readonly Case[];
  readonly held: (release: Release) => readonly Held[];
}

type Tell = (subject: Subject, ask: Ask, isAsked?: (step: string) => boolean) => Promise<readonly Told[]>;

function caseOf(subject: Subject, tell: Tell): Case {
  const kind = subject.in;
  return {
    name: `${kind} ${subject.object.metadata.name}`,
    kind,
    tell: (ask, isAsked) => tell(subject, ask, isAsked),
  };
}

/** The life of an object of each kind, in each version that can be served: some 270 requests, of which many have faults. */
export const lives: Corpus = {
  name: "lives",
  cases: (release) => subjects(release).map((subject) => caseOf(subject, live)),
  held: (release) => ofRelease(heldOfLives, release),
};

/** What each single member of objects may be. */
export const members: Corpus = {
  name: "members",
  cases: (release) =>
    [...subjects(release), ...wholeObjects(release)].map((subject) => caseOf(subject, askForMembers)),
  held: (release) => ofRelease(heldOfMembers, release),
};

/** What is asked for beside reading and writing, and questions that are answered and not stored. */
export const asked: Corpus = {
  name: "actions",
  cases: (release) =>
    actions(release).map((one) => ({ name: one.name, kind: one.name, tell: (ask) => act(one, ask) })),
  held: (release) => ofRelease(heldOfActions, release),
};
