import type { Rule } from "../../../api/insight.ts";
import { recordAt, records, textAt } from "../../../model/containers.ts";
import { builtInType } from "../../../model/references.ts";
import { formatRoute, type Route } from "../../../model/routes.ts";
import { Fold } from "../../../parts/fold.tsx";
import { ObjectLink } from "../../../parts/object-link.tsx";
import { TableHead } from "../../../parts/table-head.tsx";
import { serverTypes } from "../../../state/session.ts";
import { Section, type DetailProps } from "./section.tsx";

/** The rules of a role. */
export function Rules({ object }: DetailProps) {
  const rules = records(object["rules"]) as Rule[];
  const isAggregated = recordAt(object, "aggregationRule") !== undefined;
  return (
    <Section
      title="Rules"
      note={`${rules.length}${isAggregated ? ", collected from other roles by their labels" : ""}`}
    >
      {rules.length === 0 ? (
        <p class="note">It grants nothing. Each rule has verbs, and the resources that they are for.</p>
      ) : (
        <Fold items={rules} limit={15} noun="rules">
          {(visible) => <RuleTable rules={visible} />}
        </Fold>
      )}
    </Section>
  );
}

/** Rules as a table. */
function RuleTable({ rules }: { readonly rules: readonly Rule[] }) {
  return (
    <div class="wide" tabIndex={0} role="region" aria-label="Rules as a table">
      <table class="plain by-row">
        <TableHead columns={["Verbs", "Resources or paths", "Groups", "Names"]} />
        <tbody>
          {rules.map((rule, at) => (
            <tr key={at}>
              <td data-label="Verbs">{words(rule.verbs)}</td>
              <td data-label="Resources">
                {words([...(rule.resources ?? []), ...(rule.nonResourceURLs ?? [])])}
              </td>
              <td data-label="Groups">
                {words((rule.apiGroups ?? []).map((group) => (group === "" ? "core" : group)))}
              </td>
              <td data-label="Names">
                {(rule.resourceNames ?? []).length === 0 ? (
                  <span class="note">any</span>
                ) : (
                  words(rule.resourceNames)
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function words(list: readonly string[] = []): string {
  return list.map((one) => (one === "*" ? "* (all)" : one)).join(", ");
}

/** The role and the subjects of a binding. */
export function Binding({ object }: DetailProps) {
  const role = recordAt(object, "roleRef");
  const subjects = records(object["subjects"]);
  const { namespace = "" } = object.metadata;
  return (
    <>
      <Section title="Role" note={namespace === "" ? "granted everywhere" : `granted in ${namespace}`}>
        <p>
          <RoleLink kind={textAt(role, "kind")} name={textAt(role, "name")} namespace={namespace} />
        </p>
      </Section>
      <Section title="Subjects" note={String(subjects.length)}>
        {subjects.length === 0 ? (
          <p class="note">The binding has no effect: it names nobody.</p>
        ) : (
          <Fold items={subjects} limit={20} noun="subjects">
            {(visible) => (
              <div class="wide" tabIndex={0} role="region" aria-label="Subjects as a table">
                <table class="plain">
                  <TableHead columns={["Kind", "Name", "Access"]} />
                  <tbody>
                    {visible.map((subject, at) => (
                      <SubjectRow
                        key={at}
                        kind={textAt(subject, "kind")}
                        name={textAt(subject, "name")}
                        namespace={textAt(subject, "namespace") || namespace}
                      />
                    ))}
                  </tbody>
                </table>
              </div>
            )}
          </Fold>
        )}
      </Section>
    </>
  );
}

interface SubjectProps {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
}

function SubjectRow({ kind, name, namespace }: SubjectProps) {
  const account = kind === "ServiceAccount" ? builtInType(serverTypes.value, ["", kind]) : undefined;
  return (
    <tr>
      <td>{kind}</td>
      <td>
        {account === undefined ? (
          name
        ) : (
          <ObjectLink type={account} namespace={namespace} name={name} text={`${namespace}/${name}`} />
        )}
      </td>
      <td>
        <SubjectLinks kind={kind} name={name} namespace={namespace} />
      </td>
    </tr>
  );
}

/** Links to the graph and the matrix of a subject. */
function SubjectLinks({ kind, name, namespace }: SubjectProps) {
  const query: Readonly<Record<string, string>> =
    kind === "Group"
      ? { groups: name }
      : { user: kind === "ServiceAccount" ? `system:serviceaccount:${namespace}:${name}` : name };
  const to = (tab: string): Route => ({ view: "access", tab, query });
  return (
    <span class="links">
      <a href={formatRoute(to("graph"))}>graph</a>
      {kind !== "Group" && <a href={formatRoute(to("matrix"))}>matrix</a>}
    </span>
  );
}

function RoleLink({ kind, name, namespace }: SubjectProps) {
  const type = builtInType(serverTypes.value, ["rbac.authorization", kind]);
  if (type === undefined) return <>{`${kind} ${name}`}</>;
  return <ObjectLink type={type} namespace={type.namespaced ? namespace : ""} name={name} />;
}

/** The bindings and rights of a service account are on the access page. */
export function AccountAccess({ object: { metadata } }: DetailProps) {
  return (
    <Section title="Access">
      <p>
        Its user is <code>{`system:serviceaccount:${metadata.namespace ?? ""}:${metadata.name}`}</code>.{" "}
        <SubjectLinks kind="ServiceAccount" name={metadata.name} namespace={metadata.namespace ?? ""} />
      </p>
    </Section>
  );
}
