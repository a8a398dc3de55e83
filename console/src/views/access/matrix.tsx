import { reviewAll, type ReviewResult } from "../../api/insight.ts";
import { actionOn } from "../../api/access.ts";
import { fullName, isBrowsable, type ResourceType } from "../../model/resource-types.ts";
import { serverTypes } from "../../state/session.ts";
import { Failure, QuestionForm, subjectOf, useAnswer, verbs, type QuestionProps } from "./question-form.tsx";

/** Checks of one request to the server. */
const chunkSize = 1000;

/** A resource type with the result of each verb. */
interface MatrixRow {
  readonly type: ResourceType;
  readonly results: readonly ReviewResult[];
}

/** The verbs of a user by resource, in one namespace or in all. */
export function Matrix({ query, onAsk }: QuestionProps) {
  const answer = useAnswer<readonly MatrixRow[]>(query, ["user"], async () => {
    const { types, groupSuffix } = serverTypes.value;
    const browsable = types.filter(isBrowsable);
    const { namespace = "" } = query;
    const actions = browsable.flatMap((type) =>
      verbs.map((verb) => actionOn(type, verb, namespace === "" ? {} : { namespace })),
    );
    const results: ReviewResult[] = [];
    for (let at = 0; at < actions.length; at += chunkSize) {
      results.push(...(await reviewAll(groupSuffix, subjectOf(query), actions.slice(at, at + chunkSize))));
    }
    return browsable.map((type, at) => ({
      type,
      results: results.slice(at * verbs.length, (at + 1) * verbs.length),
    }));
  });
  return (
    <>
      <QuestionForm query={query} onAsk={onAsk} names={["user", "groups", "namespace"]} />
      {typeof answer === "string" && <Failure message={answer} />}
      {typeof answer === "object" && <MatrixTable rows={answer} />}
    </>
  );
}

function MatrixTable({ rows }: { readonly rows: readonly MatrixRow[] }) {
  const allowed = rows.filter(({ results }) =>
    results.some((one) => one.allowed || (one.names ?? []).length > 0),
  );
  if (allowed.length === 0) return <p>This user may do nothing here.</p>;
  return (
    <>
      <table class="plain matrix">
        <thead>
          <tr>
            <th scope="col">Resource</th>
            {verbs.map((verb) => (
              <th scope="col" key={verb}>
                {verb}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {allowed.map(({ type, results }) => (
            <tr key={fullName(type)}>
              <th scope="row">{fullName(type)}</th>
              {results.map((result, at) => (
                <Cell key={verbs[at]} result={result} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p class="note">{rows.length - allowed.length} other resources: nothing is allowed.</p>
    </>
  );
}

function Cell({ result: { allowed, names = [] } }: { readonly result: ReviewResult }) {
  if (allowed) return <td class="good">yes</td>;
  if (names.length > 0) {
    return (
      <td class="waiting" title={names.join(", ")}>
        {names.length} names
      </td>
    );
  }
  return <td class="note">no</td>;
}
