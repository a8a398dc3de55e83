import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { Attributes, Decision } from "../authorizer.ts";
import type { AuthorizerChain, Opinion } from "../authorizer-chain.ts";
import type { Explanation } from "../insight/insight.ts";
import { allowedGroups, type AllowedGroup } from "./user-groups.ts";
import {
  accessStatus,
  reviewedAttributes,
  subjectOf,
  type AccessStatus,
  type SubjectAccessSpec,
} from "./access.ts";

/** What one authorizer said. */
export interface ShownOpinion {
  readonly name: string;
  readonly opinion: "Allow" | "Deny" | "NoOpinion";
  readonly reason?: string;
}

/** Status of an AccessExplanation, without the fields that have nothing to say. */
export interface ExplanationStatus extends AccessStatus, Partial<Explanation> {
  readonly decidedBy?: string;
  readonly authorizers: readonly ShownOpinion[];
  /** Where the question names no group of the user: groups whose members are allowed, the first of them. */
  readonly allowedGroups?: readonly AllowedGroup[];
  readonly moreAllowedGroups?: boolean;
  readonly notes?: readonly string[];
}

/** What else there is to say of a question, for people. */
export type NotesOn = (attributes: Attributes, allowed: boolean) => readonly string[];

const words = { allow: "Allow", deny: "Deny", noOpinion: "NoOpinion" } as const;

/** While what is granted changes, a decision and its explanation may not fit each other: so often they are asked for anew. */
const maxAttempts = 5;

/** Answers an AccessExplanation: the decision of the chain, and how it comes about. */
export async function explainAccess(
  spec: SubjectAccessSpec,
  chain: AuthorizerChain,
  vocabulary: Vocabulary,
  notesOn: NotesOn,
): Promise<ExplanationStatus> {
  const attributes = reviewedAttributes(subjectOf(spec), spec);
  const { decision, opinions, explanation } = await explained(attributes, chain);
  const decidedBy = decision.verdict === "noOpinion" ? undefined : opinions.at(-1)?.link.name;
  const groups = decision.verdict === "noOpinion" ? await allowedGroups(attributes, chain, vocabulary) : {};
  const notes = notesOn(attributes, decision.verdict === "allow");
  return {
    ...accessStatus(decision),
    ...(decidedBy === undefined ? {} : { decidedBy }),
    authorizers: opinions.map(shownOpinion),
    ...withoutNothing(explanation ?? {}),
    ...groups,
    ...(notes.length > 0 ? { notes } : {}),
  };
}

interface Explained {
  readonly decision: Decision;
  readonly opinions: readonly Opinion[];
  /** Undefined where no authorizer was asked that can explain. */
  readonly explanation: Explanation | undefined;
}

async function explained(attributes: Attributes, chain: AuthorizerChain): Promise<Explained> {
  for (let attempt = 1; ; attempt++) {
    const { decision, opinions } = await chain.trace(attributes);
    const own = opinions.find(({ link }) => link.insight !== undefined);
    const explanation = await own?.link.insight?.explain(attributes);
    if (own === undefined || explanation === undefined) return { decision, opinions, explanation };
    const fits = (own.decision.verdict === "allow") === explanation.grants.length > 0;
    if (fits || attempt === maxAttempts) return { decision, opinions, explanation };
  }
}

function shownOpinion({ link, decision: { verdict, reason } }: Opinion): ShownOpinion {
  const why = reason || (verdict === "noOpinion" ? "" : (link.always ?? ""));
  return { name: link.name, opinion: words[verdict], ...(why === "" ? {} : { reason: why }) };
}

/** The parts of an explanation that say something, in their order. */
function withoutNothing(explanation: Partial<Explanation>): Partial<Explanation> {
  const said = Object.entries(explanation).filter(([, part]) =>
    Array.isArray(part) ? part.length > 0 : Boolean(part),
  );
  return Object.fromEntries(said);
}
