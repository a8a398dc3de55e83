import { useSignal, type Signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { messageOf } from "../../api/client.ts";
import { deleteObject, findOwned, patchMetadata } from "../../api/objects.ts";
import { inParallel } from "../../api/parallel.ts";
import type { BulkCommand } from "../../model/bulk-command.ts";
import { deletedWith } from "../../model/owned-objects.ts";
import { parsePairs } from "../../model/pairs.ts";
import type { ResourceType } from "../../model/resource-types.ts";
import type { Row } from "../../model/table.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { reportBug } from "../../state/bugs.ts";
import { useAsync } from "../../state/use-async.ts";
import { serverTypes } from "../../state/session.ts";

interface BulkDialogProps {
  readonly type: ResourceType;
  readonly command: BulkCommand;
  readonly rows: readonly Row[];
  readonly onClose: () => void;
  /** Receives the keys of the rows that were changed. */
  readonly onDone: (keys: readonly string[]) => void;
}

/** Requests that are sent at once. */
const parallel = 4;
/** Names beyond this number are only counted. */
const maxNamed = 50;

const titles = { delete: "Delete", labels: "Label", annotations: "Annotate" } as const;

interface Progress {
  readonly done: number;
  readonly failures: readonly string[];
  readonly isRunning: boolean;
}

/** Changes rows, some at once, and reports the progress. */
function useBulkRun(rows: readonly Row[], change: (row: Row) => Promise<void>) {
  const progress = useSignal<Progress>({ done: 0, failures: [], isRunning: false });
  /** Resolves with the keys of the changed rows. */
  const run = async (): Promise<readonly string[]> => {
    const done: string[] = [];
    const failures: string[] = [];
    const report = (isRunning: boolean) => {
      progress.value = { done: done.length, failures: [...failures], isRunning };
    };
    report(true);
    await inParallel(rows, parallel, async (row) => {
      try {
        await change(row);
        done.push(row.key);
      } catch (error) {
        failures.push(`${row.name}: ${messageOf(error)}`);
      }
      report(true);
    });
    report(false);
    return done;
  };
  return { progress: progress.value, run };
}

/** Asks before several objects are changed, and says which changes failed. */
export function BulkDialog({ type, command, rows: marked, onClose, onDone }: BulkDialogProps) {
  // The list goes on changing below the dialog.
  const rows = useMemo(() => marked, []);
  const text = useSignal("");
  const pairs = parsePairs(text.value);
  const { progress, run } = useBulkRun(rows, ({ namespace, name, uid }) =>
    command === "delete"
      ? deleteObject(type, namespace, name, "Background", uid)
      : patchMetadata(type, namespace, name, { [command]: pairs }, uid),
  );
  const canRun = command === "delete" || (typeof pairs === "object" && Object.keys(pairs).length > 0);
  const start = () => {
    run()
      .then((keys) => {
        if (keys.length === rows.length) onClose();
        onDone(keys);
      })
      .catch(reportBug);
  };
  const { done, isRunning } = progress;
  return (
    <Dialog title={`${titles[command]} ${rows.length} ${type.name}`} onClose={onClose}>
      <NameList
        names={rows.map(({ namespace, name }) => (namespace === "" ? name : `${namespace}/${name}`))}
      />
      {command === "delete" ? (
        <Dependents type={type} rows={rows} />
      ) : (
        <PairsField label={command === "labels" ? "Labels" : "Annotations"} text={text} />
      )}
      <ProgressView progress={progress} count={rows.length} />
      <div class="buttons">
        <button type="button" onClick={onClose}>
          {done > 0 && !isRunning ? "Close" : "Cancel"}
        </button>
        <button
          type="button"
          class={command === "delete" ? "danger" : "primary"}
          disabled={isRunning || !canRun}
          onClick={start}
        >
          {titles[command]} {rows.length}
        </button>
      </div>
    </Dialog>
  );
}

/** A field for labels or annotations. */
function PairsField({ label, text }: { readonly label: string; readonly text: Signal<string> }) {
  const pairs = parsePairs(text.value);
  const isInvalid = typeof pairs === "string";
  return (
    <label class="stacked">
      {label}
      <input
        type="text"
        autocomplete="off"
        spellcheck={false}
        placeholder="team=shop, old-"
        value={text.value}
        aria-invalid={isInvalid}
        onInput={(event) => (text.value = event.currentTarget.value)}
      />
      <span class={isInvalid ? "bad" : "note"}>
        {isInvalid ? pairs : "key=value sets, key- removes; several with commas"}
      </span>
    </label>
  );
}

function ProgressView({ progress, count }: { readonly progress: Progress; readonly count: number }) {
  const { done, failures, isRunning } = progress;
  return (
    <>
      {(isRunning || done > 0) && (
        <p role="status">
          {done} of {count} done
        </p>
      )}
      {failures.length > 0 && (
        <div class="message bad" role="alert">
          <strong>{failures.length} failed</strong>
          <NameList names={failures} />
        </div>
      )}
    </>
  );
}

function NameList({ names }: { readonly names: readonly string[] }) {
  return (
    <ul class="preview" tabIndex={0} aria-label="Objects">
      {names.slice(0, maxNamed).map((name) => (
        <li key={name}>{name}</li>
      ))}
      {names.length > maxNamed && <li class="note">and {names.length - maxNamed} more</li>}
    </ul>
  );
}

/** The objects that go with the deleted ones. */
function Dependents({ type, rows }: Pick<BulkDialogProps, "type" | "rows">) {
  const answer = useAsync(async (signal) => {
    const namespaces = new Set(rows.map(({ namespace }) => namespace));
    const namespace = namespaces.size === 1 ? [...namespaces][0]! : "";
    const { types, groupSuffix } = serverTypes.value;
    const { owned, incomplete } = await findOwned(types, `meta.${groupSuffix}`, namespace, signal);
    const names = new Set(
      rows.flatMap(({ uid = "" }) => deletedWith(uid, owned)).map((one) => `${one.type.kind} ${one.name}`),
    );
    return { names: [...names], incomplete };
  }, []);
  if (type.group === "" && type.kind === "Namespace")
    return <p class="bad">Everything in these namespaces goes with them.</p>;
  if (answer === undefined) return <p role="status">Looking for what goes with them…</p>;
  if (typeof answer === "string") return <p class="bad">{answer}</p>;
  return (
    <>
      <p>{answer.names.length === 0 ? "No other object goes with them." : "These go with them:"}</p>
      {answer.names.length > 0 && <NameList names={answer.names} />}
      {answer.incomplete.length > 0 && (
        <p class="note">Not searched completely: {answer.incomplete.map(({ kind }) => kind).join(", ")}.</p>
      )}
    </>
  );
}
