import { countAll } from "../../api/counts.ts";
import { byGroup, fullName, isBrowsable } from "../../model/resource-types.ts";
import { formatRoute, listRoute } from "../../model/routes.ts";
import { serverTypes, signedInUser } from "../../state/session.ts";
import { useAsync } from "../../state/use-async.ts";
import { Bindings } from "./bindings.tsx";
import { Certificates } from "./certificates.tsx";
import { Changes } from "./changes.tsx";
import { HealthCard } from "./health.tsx";
import { NewestEvents } from "./events.tsx";
import { OwnRights } from "./own-rights.tsx";

/** The start page: how the server is, what has happened, what the user may do, and all kinds with their numbers of objects. */
export function Home() {
  const { types, groupSuffix } = serverTypes.value;
  const browsable = types.filter(isBrowsable);
  const answer = useAsync(
    async (signal) => ({ counts: await countAll(browsable, `meta.${groupSuffix}`, signal) }),
    [types],
  );
  const counts = typeof answer === "object" ? answer.counts : undefined;
  return (
    <section class="home page">
      <h1>Signed in as {signedInUser.value.name}</h1>
      <p class="note">
        Press <kbd>:</kbd> and type a kind, or a short name such as <code>cm</code>. <kbd>?</kbd> lists all
        keys.
      </p>
      <div class="cards">
        <HealthCard />
        <OwnRights />
        {counts !== undefined && <Changes counts={counts} />}
        <NewestEvents />
        <Bindings />
        <Certificates />
      </div>
      <section class="card" aria-label="Kinds">
        <h2>Kinds</h2>
        <div class="kinds">
          {byGroup(browsable).map(([group, ofGroup]) => (
            <section key={group} aria-label={group === "" ? "core" : group}>
              <h3>{group === "" ? "core" : group}</h3>
              <ul>
                {ofGroup.map((type) => (
                  <li key={type.name}>
                    <a href={formatRoute(listRoute(type))}>{type.kind}</a>{" "}
                    <span class="note">{countText(counts?.get(fullName(type)))}</span>
                  </li>
                ))}
              </ul>
            </section>
          ))}
        </div>
      </section>
    </section>
  );
}

/** Nothing for kinds without objects, and for those that the user may not list. */
function countText(count: number | undefined): string {
  return count === undefined || count === 0 ? "" : count.toLocaleString("en");
}
