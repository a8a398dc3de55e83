import { Loading } from "../../parts/states.tsx";
import { Unasked } from "./unasked.tsx";
import { getJson } from "../../api/client.ts";
import type { Rule } from "../../api/insight.ts";
import {
  accessPaths,
  type AccessObjects,
  type AccessPath,
  type BindingObject,
  type RoleObject,
} from "../../model/access-graph.ts";
import { builtInType } from "../../model/references.ts";
import { Breakable } from "../../parts/breakable.tsx";
import { Fold } from "../../parts/fold.tsx";
import { ObjectLink } from "../../parts/object-link.tsx";
import { ruleText } from "../../parts/explanation.tsx";
import { serverTypes } from "../../state/session.ts";
import { Failure, QuestionForm, subjectOf, useAnswer, type QuestionProps } from "./question-form.tsx";

/** The way from a subject over bindings and roles to rules. */
export function Graph({ query, onAsk }: QuestionProps) {
  const answer = useAnswer<readonly AccessPath[]>(query, [query["user"] ? "user" : "groups"], async () => {
    const { user, groups } = subjectOf(query);
    return accessPaths(await readObjects(), user, groups);
  });
  const isComplete = [query["user"] ? "user" : "groups"].every((name) => query[name]);
  return (
    <>
      <QuestionForm query={query} onAsk={onAsk} names={["user", "groups"]} />
      {answer === undefined && (isComplete ? <Loading label="Asking…" /> : <Unasked tab="graph" />)}
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
        <PartLink text={binding} namespace={namespace} />
        <span class="note">{namespace === "" ? "everywhere" : `in ${namespace}`}</span>
      </span>
      <span class={rules === undefined ? "box broken" : "box"}>
        {rules === undefined ? role : <PartLink text={role} namespace={namespace} />}
        {rules === undefined && <span class="bad">doesn't exist: the binding has no effect</span>}
      </span>
      {rules !== undefined && (
        <div class="rules code">
          {rules.length === 0 && <p class="note">no rules</p>}
          <Fold items={rules as readonly Rule[]} limit={5} noun="rules">
            {(shown) => (
              <ul>
                {shown.map((rule) => (
                  <li key={JSON.stringify(rule)}>
                    <Breakable text={ruleText(rule)} />
                  </li>
                ))}
              </ul>
            )}
          </Fold>
        </div>
      )}
    </li>
  );
}

/** A link to a role or binding, from `KIND NAME`. */
function PartLink({ text, namespace }: { readonly text: string; readonly namespace: string }) {
  const at = text.indexOf(" ");
  const type = builtInType(serverTypes.value, ["rbac.authorization", text.slice(0, at)]);
  if (type === undefined) return <>{text}</>;
  return <ObjectLink type={type} namespace={type.namespaced ? namespace : ""} name={text.slice(at + 1)} />;
}
