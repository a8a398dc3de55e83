import { Loading } from "../../parts/states.tsx";
import { Unasked } from "./unasked.tsx";
import { explain, type Explanation } from "../../api/insight.ts";
import { ExplanationView } from "../../parts/explanation.tsx";
import { serverTypes } from "../../state/session.ts";
import {
  actionOf,
  Failure,
  QuestionForm,
  subjectOf,
  useAnswer,
  type QuestionProps,
} from "./question-form.tsx";

/** Why a user may do something, or not. */
export function Why({ query, onAsk }: QuestionProps) {
  const answer = useAnswer<Explanation>(query, ["user", "verb", "resource"], () =>
    explain(serverTypes.value.groupSuffix, subjectOf(query), { resourceAttributes: actionOf(query) }),
  );
  const isComplete = ["user", "verb", "resource"].every((name) => query[name]);
  return (
    <>
      <QuestionForm
        query={query}
        onAsk={onAsk}
        names={["user", "groups", "verb", "resource", "namespace", "name"]}
      />
      {answer === undefined && (isComplete ? <Loading label="Asking…" /> : <Unasked tab="why" />)}
      {typeof answer === "string" && <Failure message={answer} />}
      {typeof answer === "object" && <ExplanationView explanation={answer} />}
    </>
  );
}
