import type { Signal } from "@preact/signals";
import { theme, type Theme } from "../state/place.ts";
import { signedInUser, signOut } from "../state/session.ts";
import { NamespaceField } from "./namespace-field.tsx";
import { WorkspaceSwitcher } from "./workspaces/switcher.tsx";

interface HeaderProps {
  /** Whether the sidebar is shown in a narrow window. */
  readonly showsMenu: Signal<boolean>;
  readonly openPalette: () => void;
  readonly openKeys: () => void;
}

/** The bar above all views. */
export function Header({ showsMenu, openPalette, openKeys }: HeaderProps) {
  return (
    <header>
      <button
        type="button"
        class="quiet menu"
        aria-label="Menu"
        aria-expanded={showsMenu.value}
        aria-controls="sidebar"
        onClick={() => (showsMenu.value = !showsMenu.value)}
      >
        ☰
      </button>
      <a class="brand" href="#/">
        <img src="icon.svg" alt="" width="20" height="20" /> Plinth
      </a>
      <WorkspaceSwitcher />
      <button type="button" class="go" onClick={openPalette}>
        Go to… <kbd>:</kbd>
      </button>
      <NamespaceField />
      <span class="space" />
      <button type="button" class="quiet" onClick={openKeys} aria-label="Keys" title="Keys">
        ?
      </button>
      <ThemeSwitch />
      <UserArea />
    </header>
  );
}

/** The user, and the way out. */
export function UserArea() {
  const { name } = signedInUser.value;
  return (
    <span class="user-area">
      <a class="user" href="#/access/mine" title={`Signed in as ${name}. What may I do?`}>
        {name}
      </a>
      <button type="button" class="quiet" onClick={() => signOut("You are signed out.")}>
        Sign out
      </button>
    </span>
  );
}

const themes: readonly Theme[] = ["system", "light", "dark"];
const themeMarks: Readonly<Record<Theme, string>> = { system: "◐", light: "○", dark: "●" };

function ThemeSwitch() {
  const next = themes[(themes.indexOf(theme.value) + 1) % themes.length]!;
  return (
    <button
      type="button"
      class="quiet"
      aria-label={`Colors: ${theme.value}. Switch to ${next}.`}
      title={`Colors: ${theme.value}`}
      onClick={() => (theme.value = next)}
    >
      {themeMarks[theme.value]}
    </button>
  );
}
