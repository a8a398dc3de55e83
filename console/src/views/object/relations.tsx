import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { messageOf } from "../../api/client.ts";
import { findDependents, type ApiObject, type Dependent, type OwnerReference } from "../../api/objects.ts";
import { apiVersionOf, type ResourceType } from "../../model/resource-types.ts";
import { formatRoute } from "../../model/routes.ts";
import { serverTypes } from "../../state/session.ts";

/** Owners above, the object, and its dependents below. */
export function Relations({ type, object }: { readonly type: ResourceType; readonly object: ApiObject }) {
  const { metadata } = object;
  return (
    <ul class="tree">
      {(metadata.ownerReferences ?? []).map((owner) => (
        <li key={owner.uid}>
          <OwnerLink owner={owner} namespace={metadata.namespace ?? ""} />{" "}
          <span class="note">{owner.controller === true ? "owner, controller" : "owner"}</span>
        </li>
      ))}
      <li>
        <strong>
          {type.kind} {metadata.name}
        </strong>
        <Dependents uid={metadata.uid ?? ""} namespace={metadata.namespace ?? ""} depth={0} />
      </li>
    </ul>
  );
}

function OwnerLink({ owner, namespace }: { readonly owner: OwnerReference; readonly namespace: string }) {
  const type = serverTypes.value.types.find(
    (one) =>
      one.kind === owner.kind &&
      one.group === (owner.apiVersion.includes("/") ? owner.apiVersion.split("/")[0] : ""),
  );
  if (type === undefined) return <span>{`${owner.kind} ${owner.name} (not served)`}</span>;
  return <ObjectLink type={type} namespace={type.namespaced ? namespace : ""} name={owner.name} />;
}

interface ObjectLinkProps {
  readonly type: ResourceType;
  readonly namespace: string;
  readonly name: string;
}

function ObjectLink({ type, namespace, name }: ObjectLinkProps) {
  const { group, name: resource } = type;
  const to = formatRoute({ view: "object", group, resource, namespace, name, tab: "relations" });
  return (
    <a href={to} title={apiVersionOf(type)}>
      {type.kind} {name}
    </a>
  );
}

/** Levels that are searched without being asked. */
const openLevels = 3;

interface DependentsProps {
  readonly uid: string;
  readonly namespace: string;
  readonly depth: number;
}

function Dependents({ uid, namespace, depth }: DependentsProps) {
  const found = useSignal<readonly Dependent[] | string | undefined>(undefined);
  const incomplete = useSignal<readonly ResourceType[]>([]);
  useEffect(() => {
    if (depth >= openLevels) return undefined;
    const controller = new AbortController();
    const { types, groupSuffix } = serverTypes.value;
    findDependents(types, `meta.${groupSuffix}`, namespace, new Set([uid]), controller.signal)
      .then((result) => {
        found.value = result.dependents;
        incomplete.value = result.incomplete;
      })
      .catch((error: unknown) => {
        if (!controller.signal.aborted) found.value = messageOf(error);
      });
    return () => controller.abort();
  }, []);
  const { value } = found;
  if (depth >= openLevels) return null;
  if (value === undefined) return <p class="note">Searching for dependents…</p>;
  if (typeof value === "string") return <p class="bad">{value}</p>;
  return (
    <>
      {value.length === 0 && depth === 0 && <p class="note">Nothing depends on it.</p>}
      <ul>
        {value.map(({ type, metadata }) => (
          <li key={metadata.uid}>
            <ObjectLink type={type} namespace={metadata.namespace ?? ""} name={metadata.name} />
            <Dependents uid={metadata.uid ?? ""} namespace={metadata.namespace ?? ""} depth={depth + 1} />
          </li>
        ))}
      </ul>
      {incomplete.value.length > 0 && depth === 0 && (
        <p class="note">Not searched completely: {incomplete.value.map(({ kind }) => kind).join(", ")}.</p>
      )}
    </>
  );
}
