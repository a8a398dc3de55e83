import type { ApiObject } from "../../api/objects.ts";
import { isRecord } from "../../model/paths.ts";
import { timeText } from "../../model/time.ts";

/** Metadata, conditions and simple fields of an object. */
export function Overview({ object }: { readonly object: ApiObject }) {
  const { metadata } = object;
  const rows: [string, string][] = [
    ["Created", timeText(metadata.creationTimestamp)],
    ["Deleted", timeText(metadata.deletionTimestamp)],
    ["UID", metadata.uid ?? ""],
    ["Version", metadata.resourceVersion ?? ""],
    ["Finalizers", (metadata.finalizers ?? []).join(", ")],
    ["Owners", (metadata.ownerReferences ?? []).map(({ kind, name }) => `${kind} ${name}`).join(", ")],
  ];
  return (
    <div class="overview">
      <Facts title="Metadata" rows={rows} />
      <Facts title="Labels" rows={Object.entries(metadata.labels ?? {})} />
      <Facts title="Annotations" rows={Object.entries(metadata.annotations ?? {})} />
      <Conditions object={object} />
      <Facts title="Spec" rows={simpleRows(object["spec"])} />
      <Facts title="Status" rows={simpleRows(object["status"])} />
    </div>
  );
}

interface FactsProps {
  readonly title: string;
  readonly rows: readonly (readonly [string, string])[];
}

/** Names and values; nothing if all values are empty. */
function Facts({ title, rows }: FactsProps) {
  const shown = rows.filter(([, value]) => value !== "");
  if (shown.length === 0) return null;
  return (
    <section>
      <h2>{title}</h2>
      <dl class="facts">
        {shown.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** Members that are no objects or lists of objects. */
function simpleRows(value: unknown): [string, string][] {
  if (!isRecord(value)) return [];
  return Object.entries(value)
    .filter(([, one]) => !isRecord(one) && !(Array.isArray(one) && one.some(isRecord)))
    .map(([name, one]) => [name, Array.isArray(one) ? one.join(", ") : String(one)]);
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

/** The conditions of the status as a time line, the newest first. */
function Conditions({ object }: { readonly object: ApiObject }) {
  const { status } = object;
  const list =
    isRecord(status) && Array.isArray(status["conditions"]) ? (status["conditions"] as Condition[]) : [];
  if (list.length === 0) return null;
  const ordered = list.toSorted((one, other) =>
    (one.lastTransitionTime ?? "") < (other.lastTransitionTime ?? "") ? 1 : -1,
  );
  return (
    <section>
      <h2>Conditions</h2>
      <ol class="timeline">
        {ordered.map(({ type, status: state, reason = "", message = "", lastTransitionTime }) => (
          <li key={type}>
            <time>{timeText(lastTransitionTime)}</time>
            <div>
              <strong>{type}</strong> {state} <span class="note">{reason}</span>
              {message !== "" && <p>{message}</p>}
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}
