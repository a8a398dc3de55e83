import { byGroup, isBrowsable } from "../model/resource-types.ts";
import { formatRoute, listRoute } from "../model/routes.ts";
import { serverTypes, session } from "../state/session.ts";

/** The start page: what the server serves, and how to move. */
export function Home() {
  const { value: state } = session;
  const groups = byGroup(serverTypes.value.types.filter(isBrowsable));
  return (
    <section class="home page">
      <h1>
        {state.kind === "signed-in" && state.userName !== "" ? `Signed in as ${state.userName}` : "Kinds"}
      </h1>
      <p class="note">
        Press <kbd>:</kbd> and type a kind, or a short name such as <code>cm</code>. <kbd>?</kbd> lists all
        keys.
      </p>
      <div class="kinds">
        {groups.map(([group, types]) => (
          <section key={group} aria-label={group === "" ? "core" : group}>
            <h2>{group === "" ? "core" : group}</h2>
            <ul>
              {types.map((type) => (
                <li key={type.name}>
                  <a href={formatRoute(listRoute(type))}>{type.kind}</a>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </section>
  );
}
