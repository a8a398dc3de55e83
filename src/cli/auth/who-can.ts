import type { ListedSubject, Unlisted } from "../../authorization/reviews/subject-list.ts";
import { maxSubjects } from "../../kinds/insight/subject-access-list.ts";
import type { Answer } from "../client/server-client.ts";
import { named } from "../../authorization/insight/insight-text.ts";
import { columns } from "./columns.ts";
import { actionOf, askInsight, type AuthAnswer, type AuthContext } from "./question.ts";

interface ListStatus {
  readonly subjects: readonly ListedSubject[];
  readonly continue?: string;
  readonly unlisted: readonly Unlisted[];
}

/** `plinth auth who-can VERB RESOURCE [NAME]`: posts a SubjectAccessList, and its further pages. */
export async function whoCan(words: readonly string[], context: AuthContext): Promise<AuthAnswer> {
  const action = actionOf(words, context);
  const subjects: ListedSubject[] = [];
  let object: Answer;
  let status: ListStatus | undefined;
  do {
    const limit = Math.min(maxSubjects, context.limit - subjects.length);
    const continuation = status?.continue === undefined ? {} : { continue: status.continue };
    const spec = { ...action.spec, limit, ...continuation };
    object = await askInsight(context, "SubjectAccessList", "subjectaccesslists", spec);
    status = object["status"] as ListStatus;
    subjects.push(...status.subjects);
  } while (status.continue !== undefined && subjects.length < context.limit);
  const whole = { ...status, subjects };
  return { object: { ...object, status: whole }, text: listText(whole, action.text) + action.notes };
}

function listText({ subjects, unlisted, continue: more }: ListStatus, question: string): string {
  const rows = subjects.map((subject) => {
    const [first] = subject.grants;
    const others = subject.grants.length > 1 || subject.moreGrants === true;
    return [
      subject.kind,
      subject.namespace === undefined ? subject.name : `${subject.namespace}/${subject.name}`,
      first === undefined ? "" : `${named(first.binding)}${others ? " and others" : ""}`,
      first === undefined ? "" : named(first.role),
    ];
  });
  const table =
    rows.length === 0
      ? "no subject of a binding is allowed it\n"
      : columns(["KIND", "NAME", "BINDING", "ROLE"], rows);
  const end = more === undefined ? "" : "there are more: see --limit\n";
  const beside = unlisted.map(({ authorizer, message }) => `  ${authorizer}: ${message}\n`).join("");
  return `who can ${question}:\n${table}${end}\nnot listed:\n${beside}`;
}
