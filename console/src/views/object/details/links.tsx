import { findUsers } from "../../../api/users-of.ts";
import type { ApiObject } from "../../../api/objects.ts";
import { referencesOf, usersOf, type Reference } from "../../../model/references.ts";
import type { ResourceType } from "../../../model/resource-types.ts";
import { formatRoute } from "../../../model/routes.ts";
import { Breakable } from "../../../parts/breakable.tsx";
import { Fold } from "../../../parts/fold.tsx";
import { ObjectLink } from "../../../parts/object-link.tsx";
import { Loading } from "../../../parts/states.tsx";
import { serverTypes, signedInUser } from "../../../state/session.ts";
import { useAsync } from "../../../state/use-async.ts";
import { Section } from "./section.tsx";

interface LinksProps {
  readonly type: ResourceType;
  readonly object: ApiObject;
}

/** The objects that the object refers to, and those that refer to it. */
export function Links({ type, object }: LinksProps) {
  const references = distinct(referencesOf(object, serverTypes.value));
  return (
    <>
      {references.length > 0 && (
        <Section title="Refers to" note={String(references.length)}>
          <Fold items={references} limit={12} noun="references">
            {(visible) => (
              <ul class="links-list">
                {visible.map(({ path, type: target, namespace, name }) => (
                  <li key={path}>
                    <ObjectLink type={target} namespace={namespace} name={name} /> <PathNote path={path} />
                  </li>
                ))}
              </ul>
            )}
          </Fold>
        </Section>
      )}
      {usersOf(type, serverTypes.value).length > 0 && (
        <UsedBy key={object.metadata.uid} type={type} object={object} />
      )}
    </>
  );
}

/** Returns the references without those to the same object as an earlier one. */
function distinct(references: readonly Reference[]): Reference[] {
  const byTarget = new Map<string, Reference>();
  for (const one of references) {
    const key = [one.type.group, one.type.kind, one.namespace, one.name].join("/");
    if (!byTarget.has(key)) byTarget.set(key, one);
  }
  return [...byTarget.values()];
}

function UsedBy({ type, object }: LinksProps) {
  const answer = useAsync((signal) => findUsers(type, object, serverTypes.value, signal), []);
  return (
    <Section title="Used by" note={typeof answer === "object" ? String(answer.users.length) : ""}>
      {answer === undefined && <Loading label="Searching for objects that refer to it…" />}
      {typeof answer === "string" && <p class="bad">{answer}</p>}
      {typeof answer === "object" && (
        <>
          {answer.users.length === 0 && <p class="note">Nothing refers to it.</p>}
          <Fold items={answer.users} limit={12} noun="objects">
            {(visible) => (
              <ul class="links-list">
                {visible.map(({ type: user, namespace, name, path }) => (
                  <li key={`${user.kind} ${namespace} ${name}`}>
                    <ObjectLink type={user} namespace={namespace} name={name} />{" "}
                    {namespace !== (object.metadata.namespace ?? "") && (
                      <span class="note">{namespace} </span>
                    )}
                    <PathNote path={path} />
                  </li>
                ))}
              </ul>
            )}
          </Fold>
          {answer.incomplete.length > 0 && (
            <p class="note">
              Not searched completely: {answer.incomplete.map(({ kind }) => kind).join(", ")}.
            </p>
          )}
        </>
      )}
    </Section>
  );
}

function PathNote({ path }: { readonly path: string }) {
  return (
    <span class="note code">
      <Breakable text={path} />
    </span>
  );
}

/** Questions about the access to the object. */
export function AccessLinks({ type, object: { metadata } }: LinksProps) {
  const { group, name: resource } = type;
  const { namespace = "", name } = metadata;
  const what = {
    verb: "update",
    resource: group === "" ? resource : `${resource}.${group}`,
    namespace,
    name,
  };
  const { name: user, groups } = signedInUser.value;
  return (
    <span class="links">
      <a href={formatRoute({ view: "access", tab: "who-can", query: { ...what, verb: "get" } })}>
        Who can read it
      </a>
      <a href={formatRoute({ view: "access", tab: "who-can", query: what })}>Who can change it</a>
      <a
        href={formatRoute({ view: "access", tab: "why", query: { ...what, user, groups: groups.join(",") } })}
      >
        Why me
      </a>
    </span>
  );
}
