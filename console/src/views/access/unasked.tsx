/** What the answer of a question shows, before the question is complete. */
export function Unasked({ tab }: { readonly tab: "why" | "who-can" | "matrix" | "graph" }) {
  return <p class="note">{texts[tab]}</p>;
}

const texts = {
  why: "Name a user, a verb and a resource: the bindings and rules that allow it are shown here, or the closest ones and what they lack.",
  "who-can": "Name a verb and a resource: everybody who may do it is listed here, with binding and role.",
  matrix:
    "Name a user: their verbs for all resources are shown here, in one namespace or in several beside each other.",
  graph:
    "Name a user or groups: their bindings, roles and rules are shown here, also bindings whose role doesn't exist.",
} as const;
