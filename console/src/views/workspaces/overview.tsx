import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { messageOf } from "../../api/client.ts";
import { countAll } from "../../api/counts.ts";
import { readTypes } from "../../api/discovery.ts";
import { fullName, isBrowsable } from "../../model/resource-types.ts";
import { formatRoute } from "../../model/routes.ts";
import { baseText, expiryOf, sourceOf, workspaceUrl, type Workspace } from "../../model/workspaces.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { StateText } from "../../parts/state-text.tsx";
import { Time } from "../../parts/time.tsx";

interface OverviewProps {
  readonly workspace: Workspace | string | undefined;
  readonly onRetry: () => void;
}

/** What a workspace is: its phase, address and base, and how long it exists. */
export function WorkspaceOverview({ workspace, onRetry }: OverviewProps) {
  if (workspace === undefined) return <Loading label="Reading the workspace…" />;
  if (typeof workspace === "string")
    return <Failure title="The workspace can't be read" message={workspace} onRetry={onRetry} />;
  const { metadata, spec = {}, status = {} } = workspace;
  const { name, creationTimestamp } = metadata;
  const url = status.url ?? `${location.origin}/clusters/${name}`;
  const [, ...earlier] = status.bases ?? [];
  const expiry = expiryOf(workspace);
  return (
    <>
      <dl class="facts">
        <Fact title="Phase">
          <StateText text={status.phase ?? "unknown"} />
        </Fact>
        <Fact title="Address">
          <span class="code address">{url}</span> <CopyButton text={() => url} label="Copy the address" />
        </Fact>
        <Fact title="Begins with">
          <Base workspace={workspace} />
          {earlier.length > 0 && <span class="note"> over {earlier.length} earlier states</span>}
        </Fact>
        <Fact title="Created">
          <Time at={creationTimestamp} />
        </Fact>
        <Fact title="Expires">{expiry === undefined ? "never" : <Time at={expiry} />}</Fact>
        <Fact title="Effects">
          {spec.isolated === true ? "isolated: none outside of the workspace" : "also outside, by webhooks"}
        </Fact>
        <Fact title="Administrators">
          {(spec.admins ?? []).map(({ kind, name: one }) => `${kind} ${one}`).join(", ") ||
            "those of the server"}
        </Fact>
        <Fact title="Last use">
          {status.lastUsedTime === undefined ? "not recorded yet" : <Time at={status.lastUsedTime} />}
        </Fact>
        {status.objects !== undefined && (
          <Fact title="Of its own">
            {status.objects.toLocaleString("en")} objects, {(status.bytes ?? 0).toLocaleString("en")} bytes
          </Fact>
        )}
        <Fact title="Objects">
          <ObjectCount name={name} />
        </Fact>
      </dl>
      <p class="note">
        Every client works in it with this address, such as <code>kubectl --server={url}</code>.
      </p>
    </>
  );
}

function Fact({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Base({ workspace }: { readonly workspace: Workspace }) {
  const source = workspace.status?.bases?.[0]?.workspace;
  const text = baseText(workspace);
  if (source === undefined || sourceOf(workspace) === undefined) return <>{text}</>;
  return <a href={formatRoute({ view: "workspace", name: source, tab: "overview", query: {} })}>{text}</a>;
}

/** Counts the objects in a workspace when asked for: that enters it, and lists each kind. */
function ObjectCount({ name }: { readonly name: string }) {
  const result = useSignal<string | undefined>(undefined);
  const count = async () => {
    result.value = "…";
    try {
      const { types, groupSuffix } = await readTypes(name);
      const { signal } = new AbortController();
      const all = await countAll(types.filter(isBrowsable), `meta.${groupSuffix}`, signal, {
        workspace: name,
      });
      const sum = [...all.values()].reduce((total, one) => total + one, 0);
      const kinds = types.filter((type) => (all.get(fullName(type)) ?? 0) > 0).length;
      result.value = `${sum.toLocaleString("en")} of ${kinds} kinds, as far as you may list them`;
    } catch (error) {
      result.value = messageOf(error);
    }
  };
  if (result.value !== undefined) return <span role="status">{result.value}</span>;
  return (
    <>
      <button type="button" class="link" onClick={() => void count()}>
        Count
      </button>{" "}
      <a href={workspaceUrl(name, "#/")}>Kinds</a>
    </>
  );
}
