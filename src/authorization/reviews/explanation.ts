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

/** The decision of one authorizer in the response. */
export interface ShownOpinion {
  readonly name: string;
  readonly opinion: "Allow" | "Deny" | "NoOpinion";
  readonly reason?: string;
}

/** Status of an AccessExplanation; empty fields are omitted. */
export interface ExplanationStatus extends AccessStatus, Partial<Explanation> {
  /** Name of the authorizer that allowed or denied the request; absent if none did. */
  readonly decidedBy?: string;
  /** The authorizers that were called, in order. */
  readonly authorizers: readonly ShownOpinion[];
  /** If the spec has no groups of the user: the first groups whose members are allowed the action. */
  readonly allowedGroups?: readonly AllowedGroup[];
  /** Whether groups are omitted. */
  readonly moreAllowedGroups?: boolean;
  /** Notes on the request, for example about an unknown resource. */
  readonly notes?: readonly string[];
}

/** Returns notes for the user about a request. */
export type NotesOn = (attributes: Attributes, allowed: boolean) => readonly string[];

const opinionNames = { allow: "Allow", deny: "Deny", noOpinion: "NoOpinion" } as const;

/** Maximum number of attempts. A role or binding that changes between decision and explanation can make them contradict each other. */
const maxAttempts = 5;

/** Returns the status of an AccessExplanation: the decision of the chain and its explanation. */
export async function explainAccess(
  spec: SubjectAccessSpec,
  chain: AuthorizerChain,
  vocabulary: Vocabulary,
  notesOn: NotesOn,
): Promise<ExplanationStatus> {
  const attributes = reviewedAttributes(subjectOf(spec), spec);
  const { decision, opinions, explanation } = await decideAndExplain(attributes, chain);
  const decidedBy = decision.verdict === "noOpinion" ? undefined : opinions.at(-1)?.link.name;
  const groups = decision.verdict === "noOpinion" ? await allowedGroups(attributes, chain, vocabulary) : {};
  const notes = notesOn(attributes, decision.verdict === "allow");
  return {
    ...accessStatus(decision, attributes),
    ...(decidedBy === undefined ? {} : { decidedBy }),
    authorizers: opinions.map(shownOpinion),
    ...withoutEmptyFields(explanation ?? {}),
    ...groups,
    ...(notes.length > 0 ? { notes } : {}),
  };
}

interface ExplainedDecision {
  readonly decision: Decision;
  readonly opinions: readonly Opinion[];
  /** Undefined if none of the called authorizers can explain its decisions. */
  readonly explanation: Explanation | undefined;
}

async function decideAndExplain(attributes: Attributes, chain: AuthorizerChain): Promise<ExplainedDecision> {
  for (let attempt = 1; ; attempt++) {
    const { decision, opinions } = await chain.trace(attributes);
    const explainable = opinions.find(({ link }) => link.insight !== undefined);
    const explanation = await explainable?.link.insight?.explain(attributes);
    if (explainable === undefined || explanation === undefined) return { decision, opinions, explanation };
    const consistent = (explainable.decision.verdict === "allow") === explanation.grants.length > 0;
    if (consistent || attempt === maxAttempts) return { decision, opinions, explanation };
  }
}

function shownOpinion({ link, decision: { verdict, reason } }: Opinion): ShownOpinion {
  const text = reason || (verdict === "noOpinion" ? "" : (link.summary ?? ""));
  return { name: link.name, opinion: opinionNames[verdict], ...(text === "" ? {} : { reason: text }) };
}

/** Omits fields that are empty lists, zero or false. */
function withoutEmptyFields(explanation: Partial<Explanation>): Partial<Explanation> {
  const nonEmpty = Object.entries(explanation).filter(([, part]) =>
    Array.isArray(part) ? part.length > 0 : Boolean(part),
  );
  return Object.fromEntries(nonEmpty);
}
