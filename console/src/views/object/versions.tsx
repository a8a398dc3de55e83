import { useSignal } from "@preact/signals";
import { actionOn } from "../../api/access.ts";
import { messageOf } from "../../api/client.ts";
import { readVersions, restoreVersion } from "../../api/history.ts";
import type { ApiObject } from "../../api/objects.ts";
import type { ResourceType } from "../../model/resource-types.ts";
import { stepsOf, type KeptObject, type VersionStep } from "../../model/versions.ts";
import { Action } from "../../parts/action.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { Time } from "../../parts/time.tsx";
import { useAsync } from "../../state/use-async.ts";
import { ChangeList } from "./changes.tsx";

interface VersionsProps {
  readonly type: ResourceType;
  readonly object: ApiObject;
}

/** The versions of an object that the server keeps, the newest first: who made them, what they changed, and a way back. */
export function Versions({ type, object }: VersionsProps) {
  const { namespace = "", name, resourceVersion } = object.metadata;
  const read = useAsync(
    (signal) => readVersions(type, namespace, name, signal),
    [type, namespace, name, resourceVersion],
  );
  if (read === undefined) return <Loading label="Reading the history…" />;
  if (typeof read === "string") return <Failure title="The history can't be read" message={read} />;
  if (read.versions === undefined)
    return (
      <p class="note">
        The server doesn't keep the history of {type.name}, or you may not read it. It is kept for the
        resources in the flag --history-retention.
      </p>
    );
  return (
    <ol class="timeline">
      {stepsOf(read.versions).map((step) => (
        <Step key={step.version.metadata.resourceVersion} type={type} object={object} step={step} />
      ))}
    </ol>
  );
}

function Step({ type, object, step }: VersionsProps & { readonly step: VersionStep }) {
  const { version, changes } = step;
  const { resourceVersion } = version.metadata;
  const { namespace = "", name } = object.metadata;
  const failure = useSignal("");
  const past = version.object;
  const isOlder = past !== undefined && resourceVersion !== object.metadata.resourceVersion;
  const restore = async (state: KeptObject) => {
    failure.value = "";
    try {
      await restoreVersion(type, namespace, name, { past: state, present: object as unknown as KeptObject });
    } catch (error) {
      failure.value = messageOf(error);
    }
  };
  return (
    <li>
      <Time at={version.time} />
      <div>
        <strong>version {resourceVersion}</strong>{" "}
        <span class="note">
          {version.verb ?? "written"} by {version.user ?? "an unknown user"}
          {version.manager !== undefined && version.manager !== "" && ` with ${version.manager}`}
        </span>{" "}
        {isOlder && (
          <Action
            action={actionOn(type, "update", { namespace, name })}
            label={`Restore version ${resourceVersion}`}
            onRun={() => void restore(past)}
          />
        )}
        {changes !== undefined && <ChangeList changes={changes} />}
        {version.error !== undefined && <p class="bad">{version.error}</p>}
        {failure.value !== "" && (
          <p class="bad" role="alert">
            {failure.value}
          </p>
        )}
      </div>
    </li>
  );
}
