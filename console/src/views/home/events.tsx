import { getJson } from "../../api/client.ts";
import { recordAt, textAt } from "../../model/containers.ts";
import { builtInType, referencesOf } from "../../model/references.ts";
import { formatRoute, listRoute } from "../../model/routes.ts";
import type { Metadata } from "../../model/metadata.ts";
import { ObjectLink } from "../../parts/object-link.tsx";
import { StateText } from "../../parts/state-text.tsx";
import { Time } from "../../parts/time.tsx";
import { serverTypes } from "../../state/session.ts";
import { useAsync } from "../../state/use-async.ts";
import { Card } from "./card.tsx";

interface EventObject {
  readonly metadata: Metadata;
  readonly [field: string]: unknown;
}

const [maxRead, maxShown] = [500, 8];

async function readEvents(signal: AbortSignal): Promise<{ readonly events: readonly EventObject[] }> {
  const { items } = await getJson<{ items: EventObject[] }>(`/api/v1/events?limit=${maxRead}`, { signal });
  return {
    events: items.toSorted((one, other) => (timeOf(one) < timeOf(other) ? 1 : -1)).slice(0, maxShown),
  };
}

function timeOf(event: EventObject): string {
  return (
    textAt(event, "lastTimestamp") || textAt(event, "eventTime") || (event.metadata.creationTimestamp ?? "")
  );
}

/** The newest events. */
export function NewestEvents() {
  const answer = useAsync(readEvents, []);
  const type = builtInType(serverTypes.value, ["", "Event"]);
  return (
    <Card title="Events" answer={answer}>
      {({ events }) => (
        <>
          {events.length === 0 && (
            <p class="note">Controllers report here what they do, and what goes wrong.</p>
          )}
          <ul class="feed">
            {events.map((event) => (
              <li key={event.metadata.uid}>
                <Time at={timeOf(event)} />
                <span>
                  <StateText
                    text={textAt(event, "reason")}
                    tone={textAt(event, "type") === "Warning" ? "waiting" : undefined}
                  />{" "}
                  <About event={event} /> <span class="note">{textAt(event, "message")}</span>
                </span>
              </li>
            ))}
          </ul>
          {type !== undefined && events.length > 0 && <a href={formatRoute(listRoute(type))}>All events</a>}
        </>
      )}
    </Card>
  );
}

function About({ event }: { readonly event: EventObject }) {
  const about = recordAt(event, "involvedObject");
  const link = referencesOf(event, serverTypes.value).find(({ path }) => path === "involvedObject.name");
  if (link === undefined) return <>{`${textAt(about, "kind")} ${textAt(about, "name")}`}</>;
  return <ObjectLink type={link.type} namespace={link.namespace} name={link.name} />;
}
