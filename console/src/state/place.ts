import { effect, signal } from "@preact/signals";
import { formatRoute, parseRoute, type Route } from "../model/routes.ts";

/** The current place: the fragment of the URL. */
export const route = signal<Route>(parseRoute(""));

/** Removes a one-time code from the URL and its history entry, and returns it; undefined if there is none. */
export function takeCode(): string | undefined {
  const match = /^#code=([\w-]{43})$/.exec(location.hash);
  if (match === null) return undefined;
  history.replaceState(null, "", `${location.pathname}${location.search}`);
  return match[1];
}

/** Follows the URL. */
export function followPlace(): void {
  const read = () => (route.value = parseRoute(location.hash));
  window.addEventListener("hashchange", read);
  read();
}

/** Goes to a place. @param replaces whether the current one is left out of the history. */
export function go(to: Route, replaces = false): void {
  const fragment = formatRoute(to);
  if (fragment === location.hash) return;
  if (replaces) history.replaceState(null, "", fragment);
  else history.pushState(null, "", fragment);
  route.value = to;
}

/** The chosen colors: those of the system, or one of two. The choice isn't a secret and is kept in the browser. */
export type Theme = "system" | "light" | "dark";
const themeKey = "plinth-console-theme";
export const theme = signal<Theme>(storedTheme());

/** Applies the colors to the page. */
export function followTheme(): void {
  effect(() => {
    const { value } = theme;
    if (value === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = value;
    storage()?.setItem(themeKey, value);
  });
}

function storedTheme(): Theme {
  const stored = storage()?.getItem(themeKey);
  return stored === "light" || stored === "dark" ? stored : "system";
}

/** The browser's storage; undefined if the user has forbidden it. */
export function storage(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}

/** The namespace of the last list; the next list begins with it. */
export const lastNamespace = signal("");
