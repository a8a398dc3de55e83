import { compareWorkspace } from "../../api/workspaces.ts";
import type { ResourceType } from "../../model/resource-types.ts";
import { sentenceOf } from "../../model/workspace-changes.ts";
import { Failure, Loading } from "../../parts/states.tsx";
import { useAsync } from "../../state/use-async.ts";
import { useSignal } from "@preact/signals";
import { workspaceType } from "../../state/workspace.ts";
import { ObjectChanges } from "./object-changes.tsx";
import { OtherWorkspace } from "./other-workspace.tsx";

type Query = Readonly<Record<string, string>>;

interface DifferenceProps {
  /** Name of the workspace. */
  readonly name: string;
  /** `to` is another workspace; `since=start` compares with the base when the workspace began. */
  readonly query: Query;
  readonly onChange: (query: Query) => void;
}

/** What differs between a workspace and its base, or another workspace. */
export function DifferenceTab({ name, query, onChange }: DifferenceProps) {
  const type = workspaceType("workspacediffs");
  if (type === undefined) return <p class="note">The server doesn&apos;t serve comparisons.</p>;
  const { to = "", since = "" } = query;
  return (
    <>
      <div class="question">
        <OtherWorkspace
          label="Compared with"
          base="its base"
          name={name}
          value={to}
          onChange={(next) => onChange(next === "" ? {} : { to: next })}
        />
        {to === "" && (
          <label class="check">
            <input
              type="checkbox"
              checked={since === "start"}
              onChange={(event) => onChange(event.currentTarget.checked ? { since: "start" } : {})}
            />
            As the base was when the workspace began
          </label>
        )}
      </div>
      <Comparison key={`${to} ${since}`} type={type} name={name} to={to} sinceStart={since === "start"} />
    </>
  );
}

interface ComparisonProps {
  readonly type: ResourceType;
  readonly name: string;
  readonly to: string;
  readonly sinceStart: boolean;
}

function Comparison({ type, name, to, sinceStart }: ComparisonProps) {
  const reads = useSignal(0);
  const retry = () => void reads.value++;
  const request = { workspace: name, ...(to === "" ? sinceStart && { sinceStart } : { to }) };
  const difference = useAsync((signal) => compareWorkspace(type, request, signal), [reads.value]);
  if (difference === undefined) return <Loading label="Comparing…" />;
  if (typeof difference === "string")
    return <Failure title="They can't be compared" message={difference} onRetry={retry} />;
  const { objects = [], moreObjects, message = "", hidden = 0 } = difference;
  return (
    <>
      <div class="buttons top">
        <p role="status">{sentenceOf(message)}</p>
        <button type="button" onClick={retry}>
          Compare again
        </button>
      </div>
      {hidden > 0 && (
        <p class="message waiting">Some objects are left out because you may not read them: {hidden}.</p>
      )}
      <ObjectChanges objects={objects} workspace={to === "" ? name : to} />
      {moreObjects !== undefined && <p class="note">and {moreObjects} more objects</p>}
    </>
  );
}
