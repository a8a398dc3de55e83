import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { messageOf } from "../../api/client.ts";
import { findOwned, type ApiObject, type OwnedSearch } from "../../api/objects.ts";
import type { OwnerReference } from "../../model/metadata.ts";
import type { ObjectsByOwner } from "../../model/owned-objects.ts";
import type { ResourceType } from "../../model/resource-types.ts";
import { ObjectLink } from "../../parts/object-link.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
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
        <Dependents uid={metadata.uid ?? ""} namespace={metadata.namespace ?? ""} />
      </li>
    </ul>
  );
}

/** A link to an owner, if the server serves its kind. */
export function OwnerLink({
  owner,
  namespace,
}: {
  readonly owner: OwnerReference;
  readonly namespace: string;
}) {
  const type = serverTypes.value.types.find(
    (one) =>
      one.kind === owner.kind &&
      one.group === (owner.apiVersion.includes("/") ? owner.apiVersion.split("/")[0] : ""),
  );
  if (type === undefined) return <span>{`${owner.kind} ${owner.name} (not served)`}</span>;
  return <ObjectLink type={type} namespace={type.namespaced ? namespace : ""} name={owner.name} />;
}

/** Levels of dependents that are shown. */
const maxLevels = 3;

/** The dependents of the object, as a tree. */
function Dependents({ uid, namespace }: { readonly uid: string; readonly namespace: string }) {
  const search = useSignal<OwnedSearch | string | undefined>(undefined);
  useEffect(() => {
    const controller = new AbortController();
    const { types, groupSuffix } = serverTypes.value;
    findOwned(types, `meta.${groupSuffix}`, namespace, controller.signal)
      .then((result) => (search.value = result))
      .catch((error: unknown) => {
        if (!controller.signal.aborted) search.value = messageOf(error);
      });
    return () => controller.abort();
  }, []);
  const { value } = search;
  if (value === undefined) return <Loading label="Searching for dependents…" />;
  if (typeof value === "string") return <Failure message={value} />;
  const { owned, incomplete } = value;
  return (
    <>
      {!owned.has(uid) && <p class="note">Nothing depends on it: no object names it as its owner.</p>}
      <DependentList owned={owned} uid={uid} levels={maxLevels} />
      {incomplete.length > 0 && (
        <p class="note">Not searched completely: {incomplete.map(({ kind }) => kind).join(", ")}.</p>
      )}
    </>
  );
}

interface DependentListProps {
  readonly owned: ObjectsByOwner;
  readonly uid: string;
  readonly levels: number;
}

function DependentList({ owned, uid, levels }: DependentListProps) {
  const objects = owned.get(uid) ?? [];
  if (objects.length === 0 || levels === 0) return null;
  return (
    <ul>
      {objects.map((object) => (
        <li key={object.uid}>
          <ObjectLink type={object.type} namespace={object.namespace} name={object.name} />
          <DependentList owned={owned} uid={object.uid} levels={levels - 1} />
        </li>
      ))}
    </ul>
  );
}
