import type { Held } from "./comparison.ts";
import { heldOfLives } from "./held-of-lives.ts";
import { heldOfMembers } from "./held-of-members.ts";
import type { Ask, Told } from "./life.ts";
import { askForMembers } from "./members.ts";
import { live } from "./phases/all.ts";
import { subjects, wholeObjects, type Subject } from "./subject.ts";

/** Requests about many objects, and the reasons for which some answers differ from the recorded ones. */
export interface Corpus {
  readonly name: string;
  readonly subjects: () => Subject[];
  readonly tell: (subject: Subject, ask: Ask) => Promise<readonly Told[]>;
  readonly held: readonly Held[];
}

/** The life of an object of each kind, in each version that can be served: some 270 requests, of which many have faults. */
export const lives: Corpus = { name: "lives", subjects, tell: live, held: heldOfLives };

/** What each single member of objects may be. */
export const members: Corpus = {
  name: "members",
  subjects: () => [...subjects(), ...wholeObjects()],
  tell: askForMembers,
  held: heldOfMembers,
};
