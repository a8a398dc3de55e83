import { useSignal } from "@preact/signals";
import { messageOf } from "../../api/client.ts";
import { readOwnRules, type OwnRules } from "../../api/own-rules.ts";
import { ownRights, type OwnRight } from "../../model/own-rules.ts";
import { isBrowsable } from "../../model/resource-types.ts";
import { formatRoute, listRoute } from "../../model/routes.ts";
import { Fold } from "../../parts/fold.tsx";
import { EmptyState, Failure, Loading } from "../../parts/states.tsx";
import { TableHead } from "../../parts/table-head.tsx";
import { lastNamespace } from "../../state/place.ts";
import { reviews, serverTypes, signedInUser, viewAs } from "../../state/session.ts";
import { useAsync } from "../../state/use-async.ts";
import { QuestionForm, splitWords, type QuestionProps } from "./question-form.tsx";

/** What the user may do in a namespace: every user may ask that. */
export function Mine({ query, onAsk }: QuestionProps) {
  const namespace = query["namespace"] || lastNamespace.value || "default";
  const answer = useAsync<OwnRules>(
    (signal) => readOwnRules(serverTypes.value.groupSuffix, namespace, signal),
    [namespace, signedInUser.value],
  );
  const { name, groups } = signedInUser.value;
  return (
    <>
      <p>
        You are <strong>{name}</strong>
        {groups.length > 0 && <span class="note"> in the groups {groups.join(", ")}</span>}.
      </p>
      <QuestionForm query={{ namespace }} onAsk={onAsk} names={["namespace"]} label="Show" />
      {answer === undefined && <Loading label="Asking for your rights…" />}
      {typeof answer === "string" && <Failure message={answer} />}
      {typeof answer === "object" && <Rights rules={answer} namespace={namespace} />}
      <ViewAs />
    </>
  );
}

function Rights({ rules, namespace }: { readonly rules: OwnRules; readonly namespace: string }) {
  const rights = ownRights(rules.resourceRules);
  const paths = rules.nonResourceRules.flatMap(({ verbs = [], nonResourceURLs = [] }) =>
    nonResourceURLs.map((path) => `${verbs.join(", ")} ${path}`),
  );
  return (
    <>
      <h2>In the namespace {namespace}</h2>
      {rights.length === 0 ? (
        <EmptyState title="You may do nothing here">
          <p>No role is bound to you or your groups in this namespace. Ask an administrator for a grant.</p>
        </EmptyState>
      ) : (
        <Fold items={rights} limit={40} noun="rights">
          {(shown) => (
            <div class="wide" tabIndex={0} role="region" aria-label="Your rights">
              <table class="plain by-row">
                <TableHead columns={["Resource", "Group", "Verbs", "Names"]} />
                <tbody>
                  {shown.map((right) => (
                    <RightRow key={JSON.stringify(right)} right={right} namespace={namespace} />
                  ))}
                </tbody>
              </table>
            </div>
          )}
        </Fold>
      )}
      {rules.incomplete && (
        <p class="note">
          There may be more: {rules.evaluationError || "an authorizer can't list its rules"}.
        </p>
      )}
      {paths.length > 0 && (
        <>
          <h2>Paths of the server</h2>
          <Fold items={[...new Set(paths)]} limit={5} noun="paths">
            {(shown) => (
              <ul class="code">
                {shown.map((path) => (
                  <li key={path}>{path}</li>
                ))}
              </ul>
            )}
          </Fold>
        </>
      )}
    </>
  );
}

function RightRow({
  right: { group, resource, verbs, names },
  namespace,
}: {
  readonly right: OwnRight;
  readonly namespace: string;
}) {
  const type = serverTypes.value.types.find((one) => one.group === group && one.name === resource);
  return (
    <tr>
      <th scope="row">
        {type !== undefined && isBrowsable(type) ? (
          <a href={formatRoute(listRoute(type, type.namespaced ? namespace : ""))}>{resource}</a>
        ) : resource === "*" ? (
          "all resources"
        ) : (
          resource
        )}
      </th>
      <td data-label="Group">{group === "*" ? "all groups" : group === "" ? "core" : group}</td>
      <td data-label="Verbs">{verbs.includes("*") ? "all verbs" : verbs.join(", ")}</td>
      <td data-label="Names">{names.length === 0 ? <span class="note">all</span> : names.join(", ")}</td>
    </tr>
  );
}

/** Shows the console with the rights of another user, to those who may impersonate. */
function ViewAs() {
  const user = useSignal("");
  const groups = useSignal("");
  const failure = useSignal("");
  const { impersonatedBy } = signedInUser.value;
  const may = useAsync(
    () => reviews.value.may({ verb: "impersonate", group: "", resource: "users" }),
    [reviews.value],
  );
  if (impersonatedBy !== undefined || typeof may !== "object" || !may.allowed) return null;
  return (
    <>
      <h2>See the console as another user</h2>
      <p class="note">
        You may impersonate. Lists, buttons and answers are then those of that user; the audit trail has your
        name too.
      </p>
      <form
        class="question"
        onSubmit={(event) => {
          event.preventDefault();
          if (user.value.trim() === "") return;
          failure.value = "";
          viewAs({ name: user.value.trim(), groups: splitWords(groups.value) }).catch(
            (error: unknown) => (failure.value = messageOf(error)),
          );
        }}
      >
        <label>
          View as user
          <input
            autocomplete="off"
            spellcheck={false}
            placeholder="ann, or system:serviceaccount:team-a:default"
            value={user.value}
            onInput={(event) => (user.value = event.currentTarget.value)}
          />
        </label>
        <label>
          In groups
          <input
            autocomplete="off"
            spellcheck={false}
            placeholder="team-a, on-call"
            value={groups.value}
            onInput={(event) => (groups.value = event.currentTarget.value)}
          />
        </label>
        <button type="submit">View</button>
      </form>
      {failure.value !== "" && <Failure title="This user can't be impersonated" message={failure.value} />}
    </>
  );
}
