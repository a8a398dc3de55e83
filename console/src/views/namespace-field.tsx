import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { getJson } from "../api/client.ts";
import { DraftInput } from "../parts/draft-input.tsx";
import { go, lastNamespace, route } from "../state/place.ts";
import { serverTypes } from "../state/session.ts";

/** Namespaces that are suggested; more can be typed. */
const maxSuggested = 500;

interface NamespaceList {
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}

/** The namespace of the lists; empty for all. */
export function NamespaceField() {
  const names = useSignal<readonly string[]>([]);
  const read = () => {
    const accept = `application/json;as=PartialObjectMetadataList;v=v1;g=meta.${serverTypes.value.groupSuffix}`;
    // A user without the right to list gets those that they may get.
    const path = `/api/v1/namespaces?limit=${maxSuggested}`;
    getJson<NamespaceList>(path, { accept })
      .catch(() => getJson<NamespaceList>(`${path}&view=mine`, { accept }))
      .then(({ items }) => (names.value = items.map(({ metadata }) => metadata.name)))
      .catch(() => (names.value = []));
  };
  useEffect(read, []);
  const { value: place } = route;
  const current = place.view === "list" ? place.namespace : lastNamespace.value;
  const choose = (namespace: string) => {
    lastNamespace.value = namespace;
    if (place.view === "list") go({ ...place, namespace });
  };
  return (
    <div class="namespace">
      <label for="namespace">Namespace</label>
      <DraftInput
        id="namespace"
        list="namespaces"
        placeholder="all"
        value={current}
        onFocus={read}
        onCommit={choose}
        onKeyDown={(event) => {
          if (event.key === "Escape" || event.key === "Enter") {
            event.currentTarget.blur();
            document.querySelector<HTMLElement>(".table")?.focus();
            event.preventDefault();
          }
        }}
      />
      <datalist id="namespaces">
        {names.value.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </div>
  );
}
