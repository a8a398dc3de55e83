import { changesBetween, type FieldChange } from "../../model/diff.ts";
import type { ObjectVersion } from "../../state/live-object.ts";
import { valueText } from "./fields.tsx";

/** The changes of the object since the view was opened, the newest first. */
export function Changes({ versions }: { readonly versions: readonly ObjectVersion[] }) {
  const steps = versions.slice(1).map(({ object, receivedMs }, at) => ({
    version: object.metadata.resourceVersion ?? "",
    receivedMs,
    manager: newestManager(object.metadata.managedFields ?? []),
    changes: changesBetween(versions[at]!.object, object),
  }));
  if (steps.length === 0)
    return (
      <p class="note">
        Nothing has changed since this object was opened. Each change appears here with its fields, while this
        page is open; <a href="#/server">the audit trail</a> has older ones.
      </p>
    );
  return (
    <ol class="timeline">
      {steps.toReversed().map(({ version, receivedMs, manager, changes }) => (
        <li key={version}>
          <time>{new Date(receivedMs).toLocaleTimeString()}</time>
          <div>
            <strong>version {version}</strong> <span class="note">by {manager}</span>
            <ChangeList changes={changes} />
          </div>
        </li>
      ))}
    </ol>
  );
}

/** Changed fields with their values before and after. */
export function ChangeList({ changes }: { readonly changes: readonly FieldChange[] }) {
  if (changes.length === 0) return <p class="note">No field has changed, except for those of every write.</p>;
  return (
    <ul class="changes code">
      {changes.map(({ path, before, after }) => (
        <li key={path}>
          {path}: {before !== undefined && <del>{valueText(before)}</del>}{" "}
          {after !== undefined && <ins>{valueText(after)}</ins>}
        </li>
      ))}
    </ul>
  );
}

function newestManager(
  entries: readonly { readonly manager?: string; readonly time?: string | null }[],
): string {
  const newest = entries.toSorted((one, other) => ((one.time ?? "") < (other.time ?? "") ? 1 : -1))[0];
  return newest?.manager ?? "unknown";
}
