import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { getJson, messageOf } from "../../api/client.ts";
import type { ApiObject } from "../../api/objects.ts";
import { pause } from "../../api/streams.ts";
import { timeText } from "../../model/time.ts";

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

/** The events about the object, the newest first; read again every five seconds. */
export function Events({ object: { metadata } }: { readonly object: ApiObject }) {
  const events = useSignal<readonly EventObject[] | string | undefined>(undefined);
  useEffect(() => {
    const controller = new AbortController();
    const follow = async () => {
      const query = new URLSearchParams({
        fieldSelector: `involvedObject.uid=${metadata.uid ?? ""}`,
        limit: "500",
      });
      const scope =
        metadata.namespace === undefined ? "" : `/namespaces/${encodeURIComponent(metadata.namespace)}`;
      while (!controller.signal.aborted) {
        await getJson<{ items: EventObject[] }>(`/api/v1${scope}/events?${query.toString()}`, {
          signal: controller.signal,
        })
          .then(({ items }) => (events.value = items))
          .catch((error: unknown) => {
            if (!controller.signal.aborted) events.value = messageOf(error);
          });
        await pause(intervalMs, controller.signal);
      }
    };
    follow().catch((error: unknown) => (events.value = messageOf(error)));
    return () => controller.abort();
  }, []);
  const { value } = events;
  if (value === undefined) return <p class="note">Reading…</p>;
  if (typeof value === "string") return <p class="bad">{value}</p>;
  if (value.length === 0) return <p class="note">There are no events about this object.</p>;
  const ordered = value.toSorted((one, other) => (timeOf(one) < timeOf(other) ? 1 : -1));
  return (
    <ol class="timeline">
      {ordered.map((event) => (
        <li key={event.metadata.uid ?? event.metadata.name}>
          <time>{timeText(timeOf(event))}</time>
          <div>
            <strong class={event.type === "Warning" ? "waiting" : ""}>{event.reason}</strong>{" "}
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
