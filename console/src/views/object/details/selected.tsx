import { getJson } from "../../../api/client.ts";
import type { ApiObject } from "../../../api/objects.ts";
import { recordAt, records, textAt } from "../../../model/containers.ts";
import { selectorOf, selectorText } from "../../../model/label-selectors.ts";
import { builtInType } from "../../../model/references.ts";
import { pathOf } from "../../../model/resource-types.ts";
import { formatRoute, listRoute } from "../../../model/routes.ts";
import { ObjectLink } from "../../../parts/object-link.tsx";
import { Loading } from "../../../parts/states.tsx";
import { StateText } from "../../../parts/state-text.tsx";
import { TableHead } from "../../../parts/table-head.tsx";
import { serverTypes } from "../../../state/session.ts";
import { useAsync } from "../../../state/use-async.ts";
import { Section, type DetailProps } from "./section.tsx";

const limit = 20;

interface PodList {
  readonly items: readonly ApiObject[];
  readonly metadata: { readonly continue?: string };
}

/** The pods that the selector of an object selects. */
export function SelectedPods({ object }: DetailProps) {
  const selector = selectorOf(object);
  const pods = builtInType(serverTypes.value, ["", "Pod"]);
  if (selector === undefined || pods === undefined) return null;
  return (
    <Pods
      key={selectorText(selector)}
      text={selectorText(selector)}
      namespace={object.metadata.namespace ?? ""}
    />
  );
}

function Pods({ text, namespace }: { readonly text: string; readonly namespace: string }) {
  const type = builtInType(serverTypes.value, ["", "Pod"])!;
  const query = new URLSearchParams({ limit: String(limit), ...(text !== "" && { labelSelector: text }) });
  const answer = useAsync(
    (signal) => getJson<PodList>(`${pathOf(type, namespace)}?${query.toString()}`, { signal }),
    [text, namespace],
  );
  return (
    <Section title="Selects" note={text === "" ? "all pods of the namespace" : text}>
      {answer === undefined && <Loading />}
      {typeof answer === "string" && <p class="bad">{answer}</p>}
      {typeof answer === "object" && answer.items.length === 0 && (
        <p class="note">No pod has these labels. A controller makes some, or you create one.</p>
      )}
      {typeof answer === "object" && answer.items.length > 0 && (
        <table class="plain">
          <TableHead columns={["Pod", "Phase", "Ready"]} />
          <tbody>
            {answer.items.map((pod) => (
              <tr key={pod.metadata.uid}>
                <th scope="row">
                  <ObjectLink
                    type={type}
                    namespace={namespace}
                    name={pod.metadata.name}
                    text={pod.metadata.name}
                  />
                </th>
                <td>
                  <StateText text={textAt(recordAt(pod, "status"), "phase")} />
                </td>
                <td>
                  <StateText text={readyText(pod)} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p>
        <a href={formatRoute(listRoute(type, namespace, { labels: text }))}>
          {typeof answer === "object" && (answer.metadata.continue ?? "") !== ""
            ? "All of them"
            : "As a list"}
        </a>
      </p>
    </Section>
  );
}

/** `1/2`: ready containers of all. */
function readyText(pod: ApiObject): string {
  const all = records(recordAt(pod, "spec")?.["containers"]).length;
  const ready = records(recordAt(pod, "status")?.["containerStatuses"]).filter(
    (one) => one["ready"] === true,
  );
  return `${ready.length}/${all}`;
}
