import type { Reporter } from "./reporter.ts";

/** The rejected objects, one in a line, as kubectl names them: `deployment.apps/web`. */
export const nameReporter: Reporter = ({ objects }) =>
  objects
    .filter(({ accepted }) => !accepted)
    .map(({ apiVersion, kind, name, location }) => {
      if (kind === "") return `${location?.file ?? "-"}:${location?.line ?? 1}\n`;
      const group = apiVersion.includes("/") ? `.${apiVersion.slice(0, apiVersion.indexOf("/"))}` : "";
      return `${kind.toLowerCase()}${group}/${name}\n`;
    })
    .join("");
