import { getJson } from "../../api/client.ts";
import type { ApiObject } from "../../api/objects.ts";
import type { Metadata } from "../../model/metadata.ts";
import { Failure, Loading } from "../../parts/states.tsx";
import { StateText } from "../../parts/state-text.tsx";
import { Time } from "../../parts/time.tsx";
import { usePolled } from "../../state/use-polled.ts";

interface EventObject {
  readonly metadata: { readonly uid?: string; readonly name: string; readonly creationTimestamp?: string };
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number | null;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
}

const intervalMs = 5000;

async function readEvents(
  { uid = "", namespace }: Metadata,
  aborted: AbortSignal,
): Promise<readonly EventObject[]> {
  const query = new URLSearchParams({ fieldSelector: `involvedObject.uid=${uid}`, limit: "500" });
  const scope = namespace === undefined ? "" : `/namespaces/${encodeURIComponent(namespace)}`;
  const path = `/api/v1${scope}/events?${query.toString()}`;
  return (await getJson<{ readonly items: readonly EventObject[] }>(path, { signal: aborted })).items;
}

/** The events about the object, the newest first; read again every five seconds. */
export function Events({ object: { metadata } }: { readonly object: ApiObject }) {
  const value = usePolled((aborted) => readEvents(metadata, aborted), intervalMs);
  if (value === undefined) return <Loading label="Reading the events…" />;
  if (typeof value === "string") return <Failure title="The events can't be read" message={value} />;
  if (value.length === 0) {
    return (
      <p class="note">
        No events are about this object. Controllers report here what they do with it; an event is kept for an
        hour.
      </p>
    );
  }
  const ordered = value.toSorted((one, other) => (timeOf(one) < timeOf(other) ? 1 : -1));
  return (
    <ol class="timeline">
      {ordered.map((event) => (
        <li key={event.metadata.uid ?? event.metadata.name}>
          <Time at={timeOf(event)} />
          <div>
            <strong>
              <StateText text={event.reason ?? ""} tone={event.type === "Warning" ? "waiting" : undefined} />
            </strong>{" "}
            <span class="note">{(event.count ?? 1) > 1 ? `${event.count} times` : ""}</span>
            <p>{event.message}</p>
          </div>
        </li>
      ))}
    </ol>
  );
}

function timeOf({ lastTimestamp, eventTime, metadata }: EventObject): string {
  return lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? "";
}
