import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { AuthorizerChain } from "../authorizer-chain.ts";
import type { AllowedSubject, ShownSubject } from "../insight/insight.ts";
import { reviewedAttributes, type SelfAccessSpec } from "./access.ts";

/** The action and page of a SubjectAccessList. */
export interface SubjectListRequest extends SelfAccessSpec {
  readonly limit: number;
  /** The last subject of the previous page; undefined for the first page. */
  readonly after: ShownSubject | undefined;
}

/** An allowed subject in the response. */
export interface ListedSubject extends ShownSubject {
  /** Describes the members of a group that the server itself assigns. */
  readonly members?: string;
  readonly grants: AllowedSubject["grants"];
  readonly moreGrants?: boolean;
}

/** Users that may be allowed too, but can't be listed. */
export interface Unlisted {
  readonly authorizer: string;
  readonly message: string;
}

/** One page of the allowed subjects that can be listed. */
export interface SubjectList {
  readonly subjects: readonly ListedSubject[];
  /** The last subject if another page follows. */
  readonly last: ShownSubject | undefined;
  readonly unlisted: readonly Unlisted[];
}

const noUser = { name: "", uid: "", groups: [], extra: {} };

/** Lists the subjects that are allowed the action of a SubjectAccessList. */
export async function listSubjects(
  request: SubjectListRequest,
  chain: AuthorizerChain,
  vocabulary: Vocabulary,
): Promise<SubjectList> {
  const action = reviewedAttributes(noUser, request);
  const unlisted: Unlisted[] = [];
  let subjects: ListedSubject[] = [];
  let more = false;
  for (const { name, insight, summary: always } of chain.links) {
    if (insight === undefined) {
      const defaultMessage = "this authorizer can't list the users that it allows or denies";
      unlisted.push({ authorizer: name, message: always ?? defaultMessage });
      continue;
    }
    const page = await insight.whoCan(action, request);
    more = page.more;
    subjects = page.subjects.map((one) => listed(one, vocabulary));
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

/** Describes the members of a group that the server assigns during authentication; undefined for other groups. */
function membersOf(group: string, { systemPrefix }: Vocabulary): string | undefined {
  if (!group.startsWith(systemPrefix)) return undefined;
  const name = group.slice(systemPrefix.length);
  const accountNamespace = /^serviceaccounts:(.+)$/.exec(name)?.[1];
  if (accountNamespace !== undefined)
    return `every service account of the namespace ${JSON.stringify(accountNamespace)}`;
  const descriptions: Readonly<Record<string, string>> = {
    authenticated: "every authenticated user",
    unauthenticated: "every unauthenticated user",
    serviceaccounts: "every service account",
  };
  return Object.hasOwn(descriptions, name) ? descriptions[name] : undefined;
}
