import { countIn } from "../../../api/objects.ts";
import { recordAt, textAt } from "../../../model/containers.ts";
import { fullName } from "../../../model/resource-types.ts";
import { formatRoute, listRoute } from "../../../model/routes.ts";
import { Fold } from "../../../parts/fold.tsx";
import { Loading } from "../../../parts/states.tsx";
import { serverTypes } from "../../../state/session.ts";
import { useAsync } from "../../../state/use-async.ts";
import { Section, type DetailProps } from "./section.tsx";

/** The numbers of objects in a namespace. */
export function NamespaceContents({ object: { metadata } }: DetailProps) {
  const answer = useAsync(
    (signal) =>
      countIn(serverTypes.value.types, `meta.${serverTypes.value.groupSuffix}`, metadata.name, signal),
    [metadata.name],
  );
  return (
    <Section title="Contents">
      {answer === undefined && <Loading label="Counting…" />}
      {typeof answer === "string" && <p class="bad">{answer}</p>}
      {typeof answer === "object" && (
        <Fold items={answer} limit={20} noun="kinds">
          {(visible) => (
            <ul class="counts">
              {visible.map(({ type, count }) => (
                <li key={fullName(type)}>
                  <a href={formatRoute(listRoute(type, metadata.name))}>{type.kind}</a>{" "}
                  <strong>{count}</strong>
                </li>
              ))}
            </ul>
          )}
        </Fold>
      )}
    </Section>
  );
}

/** The kind that a definition defines. */
export function DefinedKind({ object }: DetailProps) {
  const spec = recordAt(object, "spec");
  const [group, name] = [textAt(spec, "group"), textAt(recordAt(spec, "names"), "plural")];
  return (
    <Section title="Objects">
      <p>
        <a href={formatRoute(listRoute({ group, name }))}>All {name}</a>
      </p>
    </Section>
  );
}
