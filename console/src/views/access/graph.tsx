import { getJson } from "../../api/client.ts";
import type { Rule } from "../../api/insight.ts";
import {
  accessPaths,
  type AccessObjects,
  type AccessPath,
  type BindingObject,
  type RoleObject,
} from "../../model/access-graph.ts";
import { ruleText } from "../../parts/explanation.tsx";
import { serverTypes } from "../../state/session.ts";
import { Failure, QuestionForm, subjectOf, useAnswer, type QuestionProps } from "./question-form.tsx";

/** The way from a subject over bindings and roles to rules. */
export function Graph({ query, onAsk }: QuestionProps) {
  const answer = useAnswer<readonly AccessPath[]>(query, ["user"], async () => {
    const { user, groups } = subjectOf(query);
    return accessPaths(await readObjects(), user, groups);
  });
  return (
    <>
      <QuestionForm query={query} onAsk={onAsk} names={["user", "groups"]} />
      {typeof answer === "string" && <Failure message={answer} />}
      {typeof answer === "object" && <Paths paths={answer} />}
    </>
  );
}

async function readObjects(): Promise<AccessObjects> {
  const [clusterRoles, roles, clusterRoleBindings, roleBindings] = await Promise.all([
    readAll<RoleObject>("clusterroles"),
    readAll<RoleObject>("roles"),
    readAll<BindingObject>("clusterrolebindings"),
    readAll<BindingObject>("rolebindings"),
  ]);
  return { clusterRoles, roles, clusterRoleBindings, roleBindings };
}

/** Reads all objects of a type of role-based authorization, in chunks. */
async function readAll<T>(resource: string): Promise<T[]> {
  const all: T[] = [];
  let next = "";
  do {
    const parameters = new URLSearchParams({ limit: "500", ...(next && { continue: next }) });
    const path = `/apis/rbac.authorization.${serverTypes.value.groupSuffix}/v1/${resource}`;
    const list: { items: T[]; metadata: { continue?: string } } = await getJson(
      `${path}?${parameters.toString()}`,
    );
    all.push(...list.items);
    next = list.metadata.continue ?? "";
  } while (next !== "");
  return all;
}

function Paths({ paths }: { readonly paths: readonly AccessPath[] }) {
  if (paths.length === 0) return <p>No binding names this user or these groups.</p>;
  const subjects = [...new Set(paths.map(({ subject }) => subject))];
  return (
    <ul class="graph">
      {subjects.map((subject) => (
        <li key={subject}>
          <span class="box">{subject}</span>
          <ul>
            {paths
              .filter((path) => path.subject === subject)
              .map((path) => (
                <PathView key={`${path.namespace} ${path.binding}`} path={path} />
              ))}
          </ul>
        </li>
      ))}
    </ul>
  );
}

function PathView({ path: { binding, namespace, role, rules } }: { readonly path: AccessPath }) {
  return (
    <li>
      <span class="box">
        {binding}
        <span class="note">{namespace === "" ? "everywhere" : `in ${namespace}`}</span>
      </span>
      <span class={rules === undefined ? "box broken" : "box"}>
        {role}
        {rules === undefined && <span class="bad">doesn't exist: the binding has no effect</span>}
      </span>
      {rules !== undefined && (
        <ul class="rules code">
          {rules.map((rule) => (
            <li key={JSON.stringify(rule)}>{ruleText(rule as Rule)}</li>
          ))}
          {rules.length === 0 && <li class="note">no rules</li>}
        </ul>
      )}
    </li>
  );
}
