import { useSignal } from "@preact/signals";
import { actionOn } from "../../api/access.ts";
import { messageOf } from "../../api/client.ts";
import { planMerge, runMerge, type MergeRequest } from "../../api/workspaces.ts";
import type { ResourceType } from "../../model/resource-types.ts";
import {
  isPrevented,
  writtenObjects,
  type MergeStatus,
  type Side,
  type SideNames,
} from "../../model/workspace-changes.ts";
import { Action } from "../../parts/action.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { useAsync } from "../../state/use-async.ts";
import { workspaceType } from "../../state/workspace.ts";
import { Conflicts } from "./conflicts.tsx";
import { ObjectChanges } from "./object-changes.tsx";
import { OtherWorkspace } from "./other-workspace.tsx";

type Query = Readonly<Record<string, string>>;

interface MergeProps {
  /** Name of the workspace. */
  readonly name: string;
  readonly work: "merge" | "rebase";
  /** `into` is the target of a merge; `strategy` is `ours` or `theirs`. */
  readonly query: Query;
  readonly onChange: (query: Query) => void;
  /** Called after the workspace was written. */
  readonly onChanged: () => void;
}

const abouts = {
  merge:
    "Makes what the workspace has changed since it began in its base, or in another workspace, in one transaction.",
  rebase:
    "Moves the workspace to its base as it is now. What the workspace has changed stays. Its watches end.",
};

/** Merges a workspace into its base, or moves it to the newest state of its base: first as a dry run. */
export function MergeTab({ name, work, query, onChange, onChanged }: MergeProps) {
  const type = workspaceType(work === "merge" ? "workspacemerges" : "workspacerebases");
  if (type === undefined) return <p class="note">The server doesn&apos;t serve this.</p>;
  const { into = "", strategy = "" } = query;
  const names: SideNames =
    work === "merge" ? { theirs: name, ours: into || "the base" } : { theirs: "the base", ours: name };
  const request: MergeRequest = {
    workspace: name,
    ...(into !== "" && work === "merge" && { into }),
    ...((strategy === "ours" || strategy === "theirs") && { strategy }),
  };
  const change = (next: Query) =>
    onChange(Object.fromEntries(Object.entries({ ...query, ...next }).filter(([, value]) => value !== "")));
  return (
    <>
      <p class="note">{abouts[work]}</p>
      <div class="question">
        {work === "merge" && (
          <OtherWorkspace
            label="Into"
            base="its base"
            name={name}
            value={into}
            onChange={(next) => change({ into: next })}
          />
        )}
        <StrategyField
          names={names}
          value={request.strategy}
          onChange={(next) => change({ strategy: next })}
        />
      </div>
      <Plan
        key={JSON.stringify(request)}
        type={type}
        request={request}
        work={work}
        names={names}
        onChanged={onChanged}
      />
    </>
  );
}

interface StrategyProps {
  readonly names: SideNames;
  readonly value: Side | undefined;
  readonly onChange: (value: string) => void;
}

function StrategyField({ names, value = undefined, onChange }: StrategyProps) {
  return (
    <label>
      If both have changed a field
      <select value={value ?? ""} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">write nothing</option>
        <option value="ours">keep the value of {names.ours}</option>
        <option value="theirs">take the value of {names.theirs}</option>
      </select>
    </label>
  );
}

interface PlanProps {
  readonly type: ResourceType;
  readonly request: MergeRequest;
  readonly work: "merge" | "rebase";
  readonly names: SideNames;
  readonly onChanged: () => void;
}

/** The dry run, and the button that carries it out. */
function Plan({ type, request, work, names, onChanged }: PlanProps) {
  const reads = useSignal(0);
  const failure = useSignal("");
  const isRunning = useSignal(false);
  const result = useSignal<MergeStatus | undefined>(undefined);
  const retry = () => {
    failure.value = "";
    result.value = undefined;
    reads.value++;
  };
  const plan = useAsync((signal) => planMerge(type, request, signal), [reads.value]);
  const run = () => {
    failure.value = "";
    isRunning.value = true;
    runMerge(type, request)
      .then((status) => {
        result.value = status;
        onChanged();
      })
      .catch((error: unknown) => (failure.value = messageOf(error)))
      .finally(() => (isRunning.value = false));
  };
  if (result.value !== undefined)
    return <Result status={result.value} work={work} request={request} onAgain={retry} />;
  if (plan === undefined) return <Loading label="Trying it…" />;
  if (typeof plan === "string")
    return <Failure title={`The ${work} isn't possible`} message={plan} onRetry={retry} />;
  const written = writtenObjects(plan);
  const { conflicts = [], moreConflicts = 0, hidden = 0 } = plan;
  const isReady = !isPrevented(plan) && (work === "rebase" || written.length > 0);
  return (
    <>
      <p class={isPrevented(plan) ? "message bad" : "message"} role="status">
        {planText(work, written.length, conflicts.length + moreConflicts, isPrevented(plan))}
      </p>
      {hidden > 0 && (
        <p class="message waiting">Some objects are left out because you may not read them: {hidden}.</p>
      )}
      <Conflicts conflicts={conflicts} more={moreConflicts} names={names} />
      {!isPrevented(plan) && (
        <ObjectChanges objects={written} workspace={work === "rebase" ? request.workspace : undefined} />
      )}
      {failure.value !== "" && (
        <p class="message bad" role="alert">
          {failure.value}
        </p>
      )}
      <div class="buttons">
        <Action
          action={actionOn(type, "create")}
          label={work === "merge" ? "Merge" : "Rebase"}
          isPrimary
          isOnServer
          isDisabled={!isReady || isRunning.value}
          onRun={run}
        />
        <button type="button" onClick={retry}>
          Try again
        </button>
      </div>
    </>
  );
}

function planText(work: string, written: number, conflicts: number, isRefused: boolean): string {
  const objects = written === 1 ? "1 object" : `${written} objects`;
  const both = conflicts === 1 ? "1 conflict" : `${conflicts} conflicts`;
  if (isRefused) return `Not possible because of ${both}: choose whose values are taken, or change one side.`;
  if (written > 0)
    return `The ${work} would write ${objects}${conflicts > 0 ? `, with ${both} resolved` : ""}.`;
  return work === "merge" ? "Nothing is left to merge." : "No object of the workspace would change.";
}

interface ResultProps {
  readonly status: MergeStatus;
  readonly work: "merge" | "rebase";
  readonly request: MergeRequest;
  readonly onAgain: () => void;
}

function Result({ status, work, request, onAgain }: ResultProps) {
  const { message = "", resourceVersion } = status;
  return (
    <>
      <p class="message good" role="status">
        {work === "merge" ? "Merged" : "Rebased"}: {message}
        {resourceVersion !== undefined && ` at version ${resourceVersion}`}.
        {work === "merge" && " To go on in the workspace, rebase it first."}
      </p>
      <ObjectChanges
        objects={writtenObjects(status)}
        workspace={work === "rebase" ? request.workspace : request.into}
      />
      <div class="buttons">
        <button type="button" onClick={onAgain}>
          Look again
        </button>
      </div>
    </>
  );
}
