import { Loading } from "../../parts/states.tsx";
import { Unasked } from "./unasked.tsx";
import { whoCan, type SubjectList } from "../../api/insight.ts";
import { referenceText } from "../../parts/explanation.tsx";
import { serverTypes } from "../../state/session.ts";
import { actionOf, Failure, QuestionForm, useAnswer, type QuestionProps } from "./question-form.tsx";
import { TableHead } from "../../parts/table-head.tsx";

/** Who may do something. */
export function WhoCan({ query, onAsk }: QuestionProps) {
  const answer = useAnswer<SubjectList>(query, ["verb", "resource"], () =>
    whoCan(serverTypes.value.groupSuffix, { resourceAttributes: actionOf(query) }),
  );
  const isComplete = ["verb", "resource"].every((name) => query[name]);
  return (
    <>
      <QuestionForm query={query} onAsk={onAsk} names={["verb", "resource", "namespace", "name"]} />
      {answer === undefined && (isComplete ? <Loading label="Asking…" /> : <Unasked tab="who-can" />)}
      {typeof answer === "string" && <Failure message={answer} />}
      {typeof answer === "object" && <Subjects list={answer} />}
    </>
  );
}

function Subjects({
  list: { subjects = [], continue: more = "", unlisted = [] },
}: {
  readonly list: SubjectList;
}) {
  return (
    <>
      <div class="wide" tabIndex={0} role="region" aria-label="Subjects as a table">
        <table class="plain by-row">
          <TableHead columns={["Kind", "Name", "Binding", "Role"]} />
          <tbody>
            {subjects.map((subject) => (
              <tr key={referenceText(subject)}>
                <td data-label="Kind">{subject.kind}</td>
                <td data-label="Name">
                  {subject.namespace === undefined ? subject.name : `${subject.namespace}/${subject.name}`}
                </td>
                <td data-label="Binding">
                  {subject.grants?.map(({ binding }) => referenceText(binding)).join(", ")}
                </td>
                <td data-label="Role">{subject.grants?.map(({ role }) => referenceText(role)).join(", ")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {more !== "" && <p class="note">There are more than {subjects.length}.</p>}
      {unlisted.map(({ authorizer = "", message = "" }) => (
        <p key={message} class="note">
          Not listed: {authorizer}: {message}
        </p>
      ))}
    </>
  );
}
