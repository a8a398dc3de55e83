import type { ComponentChildren } from "preact";
import type { Route } from "../../model/routes.ts";
import { Tabs } from "../../parts/tabs.tsx";
import { useKeys } from "../../state/keys.ts";
import { go } from "../../state/place.ts";
import { Graph } from "./graph.tsx";
import { Mine } from "./mine.tsx";
import { Matrix } from "./matrix.tsx";
import { WhoCan } from "./who-can.tsx";
import { Why } from "./why.tsx";

const tabs = [
  ["mine", "My rights", "1"],
  ["why", "Why", "2"],
  ["who-can", "Who can", "3"],
  ["matrix", "Matrix", "4"],
  ["graph", "Graph", "5"],
] as const;

type AccessPlace = Extract<Route, { view: "access" }>;

/** Questions about who may do what. */
export function AccessView({ place }: { readonly place: AccessPlace }) {
  const show = (tab: string) => go({ ...place, tab });
  useKeys(
    tabs.map(([tab, label, key]) => ({ keys: [key], label, run: () => show(tab) })),
    [place],
  );
  return (
    <section class="object" aria-label="Access">
      <div class="toolbar">
        <h1>Access</h1>
      </div>
      <Tabs label="Questions" tabs={tabs} current={place.tab} onShow={show} />
      <div id="tab-panel" class="page" role="tabpanel" tabIndex={0} aria-labelledby={`tab-${place.tab}`}>
        <Panel key={place.tab} place={place} />
      </div>
    </section>
  );
}

function Panel({ place: { tab, query } }: { readonly place: AccessPlace }): ComponentChildren {
  const ask = (next: Readonly<Record<string, string>>) => go({ view: "access", tab, query: next });
  switch (tab) {
    case "who-can":
      return <WhoCan query={query} onAsk={ask} />;
    case "matrix":
      return <Matrix query={query} onAsk={ask} />;
    case "graph":
      return <Graph query={query} onAsk={ask} />;
    case "why":
      return <Why query={query} onAsk={ask} />;
    default:
      return <Mine query={query} onAsk={ask} />;
  }
}
