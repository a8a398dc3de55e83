import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { readNamespaces } from "../api/namespaces.ts";
import { DraftInput } from "../parts/draft-input.tsx";
import { go, lastNamespace, route } from "../state/place.ts";
import { serverTypes } from "../state/session.ts";

/** Namespaces that are suggested; more can be typed. */
const maxSuggested = 500;

/** The namespace of the lists; empty for all. */
export function NamespaceField() {
  const names = useSignal<readonly string[]>([]);
  const read = () => {
    readNamespaces(serverTypes.value.groupSuffix, maxSuggested)
      .then((result) => (names.value = result.names))
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
        placeholder="all namespaces"
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
