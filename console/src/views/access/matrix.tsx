import { Loading } from "../../parts/states.tsx";
import { Unasked } from "./unasked.tsx";
import { actionOn } from "../../api/access.ts";
import { reviewAll, type ReviewResult } from "../../api/insight.ts";
import { readNamespaces } from "../../api/namespaces.ts";
import { fullName, isBrowsable, type ResourceType } from "../../model/resource-types.ts";
import { legend, verbCell, verbs } from "../../model/verb-marks.ts";
import { serverTypes } from "../../state/session.ts";
import {
  Failure,
  QuestionForm,
  splitWords,
  subjectOf,
  useAnswer,
  type QuestionProps,
  type Query,
} from "./question-form.tsx";
import { TableHead } from "../../parts/table-head.tsx";

/** Checks of one request to the server. */
const chunkSize = 1000;
/** Namespaces beyond this number are left out. */
const maxNamespaces = 20;
/** Resources are left out if there were more checks than these. */
const maxChecks = 20_000;

/** A resource type with the results of its verbs, for each namespace. */
interface MatrixRow {
  readonly type: ResourceType;
  readonly cells: readonly (readonly ReviewResult[])[];
}

interface MatrixAnswer {
  /** Empty for one column with all namespaces as one. */
  readonly namespaces: readonly string[];
  readonly hasMore: boolean;
  /** Number of resources that were left out. */
  readonly leftOut: number;
  readonly rows: readonly MatrixRow[];
}

/** The verbs of a user by resource, in all namespaces as one, in one, or in several beside each other. */
export function Matrix({ query, onAsk }: QuestionProps) {
  const answer = useAnswer<MatrixAnswer>(query, ["user"], () => askMatrix(query));
  const isComplete = ["user"].every((name) => query[name]);
  return (
    <>
      <QuestionForm query={query} onAsk={onAsk} names={["user", "groups", "namespaces"]} />
      {answer === undefined && (isComplete ? <Loading label="Asking…" /> : <Unasked tab="matrix" />)}
      {typeof answer === "string" && <Failure message={answer} />}
      {typeof answer === "object" && <MatrixView answer={answer} />}
    </>
  );
}

async function askMatrix(query: Query): Promise<MatrixAnswer> {
  const { types, groupSuffix } = serverTypes.value;
  const { names: namespaces, hasMore } = await namespacesOf(query);
  const columns = namespaces.length === 0 ? [""] : namespaces;
  const all = types.filter((type) => isBrowsable(type) && (columns.length === 1 || type.namespaced));
  const browsable = all.slice(0, Math.floor(maxChecks / (columns.length * verbs.length)));
  const actions = browsable.flatMap((type) =>
    columns.flatMap((namespace) =>
      verbs.map((verb) => actionOn(type, verb, namespace === "" ? {} : { namespace })),
    ),
  );
  const results: ReviewResult[] = [];
  for (let at = 0; at < actions.length; at += chunkSize) {
    results.push(...(await reviewAll(groupSuffix, subjectOf(query), actions.slice(at, at + chunkSize))));
  }
  const cellAt = (index: number) => results.slice(index * verbs.length, (index + 1) * verbs.length);
  const rows = browsable.map((type, row) => ({
    type,
    cells: columns.map((_, column) => cellAt(row * columns.length + column)),
  }));
  return { namespaces, hasMore, leftOut: all.length - rows.length, rows };
}

async function namespacesOf({ namespace = "" }: Query) {
  if (namespace === "*") return readNamespaces(serverTypes.value.groupSuffix, maxNamespaces);
  const names = [...new Set(splitWords(namespace))];
  return { names: names.slice(0, maxNamespaces), hasMore: names.length > maxNamespaces };
}

function MatrixView({ answer: { namespaces, hasMore, leftOut, rows } }: { readonly answer: MatrixAnswer }) {
  const allowed = rows.filter(({ cells }) => cells.some((cell) => cell.some(isAllowed)));
  if (allowed.length === 0) return <p>This user may do nothing here.</p>;
  return (
    <>
      {namespaces.length > 1 ? (
        <NamespaceTable namespaces={namespaces} rows={allowed} />
      ) : (
        <VerbTable rows={allowed} />
      )}
      {hasMore && <p class="note">Only the first {maxNamespaces} namespaces are shown.</p>}
      {leftOut > 0 && <p class="note">{leftOut} resources are not checked: ask for fewer namespaces.</p>}
      <p class="note">{rows.length - allowed.length} other resources: nothing is allowed.</p>
    </>
  );
}

function isAllowed({ allowed, names = [] }: ReviewResult): boolean {
  return allowed || names.length > 0;
}

interface TableProps {
  readonly rows: readonly MatrixRow[];
}

/** A column for each verb. */
function VerbTable({ rows }: TableProps) {
  return (
    <table class="plain matrix">
      <TableHead columns={["Resource", ...verbs]} />
      <tbody>
        {rows.map(({ type, cells: [results = []] }) => (
          <tr key={fullName(type)}>
            <th scope="row">{fullName(type)}</th>
            {results.map((result, at) => (
              <Cell key={verbs[at]} result={result} />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A column for each namespace. */
function NamespaceTable({ namespaces, rows }: TableProps & { readonly namespaces: readonly string[] }) {
  return (
    <div class="wide" tabIndex={0} role="region" aria-label="Verbs by namespace">
      <p class="note">{legend}; ° for some names only</p>
      <table class="plain matrix">
        <TableHead columns={["Resource", ...namespaces]} />
        <tbody>
          {rows.map(({ type, cells }) => (
            <tr key={fullName(type)}>
              <th scope="row">{fullName(type)}</th>
              {cells.map((results, at) => (
                <MarksCell key={namespaces[at]} results={results} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function MarksCell({ results }: { readonly results: readonly ReviewResult[] }) {
  const { text, label, isPartial } = verbCell(results);
  const tone = isPartial ? "waiting" : label === "nothing" ? "note" : "good";
  return (
    <td class={`code ${tone}`}>
      <span role="img" aria-label={label} title={label}>
        {text}
      </span>
    </td>
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
