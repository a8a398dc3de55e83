import { act, actions } from "./actions.ts";
import type { Held } from "./comparison.ts";
import { heldOfActions } from "./held-of-actions.ts";
import { heldOfLives } from "./held-of-lives.ts";
import { heldOfMembers } from "./held-of-members.ts";
import type { Ask, Told } from "./life.ts";
import { askForMembers } from "./members.ts";
import { live } from "./phases/all.ts";
import { subjects, wholeObjects, type Subject } from "./subject.ts";

/** Requests about one thing. */
export interface Case {
  readonly name: string;
  /** What it is about, such as `apis/apps/v1/deployments`. */
  readonly kind: string;
  readonly tell: (ask: Ask) => Promise<readonly Told[]>;
}

/** Requests about many things, and the reasons for which some answers differ from the recorded ones. */
export interface Corpus {
  readonly name: string;
  readonly cases: () => readonly Case[];
  readonly held: readonly Held[];
}

type Tell = (subject: Subject, ask: Ask) => Promise<readonly Told[]>;

function caseOf(subject: Subject, tell: Tell): Case {
  const kind = subject.in;
  return { name: `${kind} ${subject.object.metadata.name}`, kind, tell: (ask) => tell(subject, ask) };
}

/** The life of an object of each kind, in each version that can be served: some 270 requests, of which many have faults. */
export const lives: Corpus = {
  name: "lives",
  cases: () => subjects().map((subject) => caseOf(subject, live)),
  held: heldOfLives,
};

/** What each single member of objects may be. */
export const members: Corpus = {
  name: "members",
  cases: () => [...subjects(), ...wholeObjects()].map((subject) => caseOf(subject, askForMembers)),
  held: heldOfMembers,
};

/** What is asked for beside reading and writing, and questions that are answered and not stored. */
export const asked: Corpus = {
  name: "actions",
  cases: () => actions().map((one) => ({ name: one.name, kind: one.name, tell: (ask) => act(one, ask) })),
  held: heldOfActions,
};
