import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { AuthorizerChain } from "../authorizer-chain.ts";
import type { AllowedSubject, ShownSubject } from "../insight/insight.ts";
import { reviewedAttributes, type SelfAccessSpec } from "./access.ts";

/** What a SubjectAccessList asks. */
export interface SubjectListQuestion extends SelfAccessSpec {
  readonly limit: number;
  /** The last subject of the answer before; undefined for the first answer. */
  readonly after: ShownSubject | undefined;
}

/** A subject that may, as it is listed. */
export interface ListedSubject extends ShownSubject {
  /** Who is in a group whose members the server decides. */
  readonly members?: string;
  readonly grants: AllowedSubject["grants"];
  readonly moreGrants?: boolean;
}

/** Somebody who may be allowed too. */
export interface Unlisted {
  readonly authorizer: string;
  readonly message: string;
}

/** Who may, as far as they can be listed. */
export interface SubjectList {
  readonly subjects: readonly ListedSubject[];
  /** The last one of them, where there are more. */
  readonly last: ShownSubject | undefined;
  readonly unlisted: readonly Unlisted[];
}

const noUser = { name: "", uid: "", groups: [], extra: {} };

/** Answers a SubjectAccessList. */
export async function listSubjects(
  question: SubjectListQuestion,
  chain: AuthorizerChain,
  vocabulary: Vocabulary,
): Promise<SubjectList> {
  const action = reviewedAttributes(noUser, question);
  const unlisted: Unlisted[] = [];
  let subjects: ListedSubject[] = [];
  let more = false;
  for (const { name, insight, always } of chain.links) {
    if (insight === undefined) {
      const unknown = "this authorizer can't list whom it allows or denies";
      unlisted.push({ authorizer: name, message: always ?? unknown });
      continue;
    }
    const found = await insight.whoCan(action, question);
    more = found.more;
    subjects = found.subjects.map((one) => listed(one, vocabulary));
    unlisted.push({
      authorizer: name,
      message: "members of the listed groups are allowed too; who they are is known when they authenticate",
    });
  }
  return { subjects, last: more ? subjects.at(-1) : undefined, unlisted };
}

function listed(
  { kind, namespace, name, grants, moreGrants }: AllowedSubject,
  vocabulary: Vocabulary,
): ListedSubject {
  const members = kind === "Group" ? membersOf(name, vocabulary) : undefined;
  return {
    kind,
    ...(namespace === undefined ? {} : { namespace }),
    name,
    ...(members === undefined ? {} : { members }),
    grants,
    ...(moreGrants === undefined ? {} : { moreGrants }),
  };
}

/** Who is in a group that the server itself puts users into. */
function membersOf(group: string, { systemPrefix }: Vocabulary): string | undefined {
  if (!group.startsWith(systemPrefix)) return undefined;
  const name = group.slice(systemPrefix.length);
  const ofNamespace = /^serviceaccounts:(.+)$/.exec(name)?.[1];
  if (ofNamespace !== undefined)
    return `every service account of the namespace ${JSON.stringify(ofNamespace)}`;
  const known: Readonly<Record<string, string>> = {
    authenticated: "everybody who is authenticated",
    unauthenticated: "everybody who isn't authenticated",
    serviceaccounts: "every service account",
  };
  return Object.hasOwn(known, name) ? known[name] : undefined;
}
