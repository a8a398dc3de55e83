import type { ShownElsewhere } from "./table.ts";

/** Flags that the tests of their subject show on a running server. */
export const shownElsewhere: readonly ShownElsewhere[] = [
  {
    flag: "max-connections",
    value: "1",
    observed: "whether a second connection is refused",
    file: "server/command-line.test.ts",
    title: "--max-connections and --allow-privileged reach the server",
  },
  {
    flag: "cert-dir",
    value: "a folder",
    observed: "which files hold the serving certificate",
    file: "server/command-line.test.ts",
    title: "--cert-dir holds apiserver.crt and apiserver.key after the start, and serves with them again",
  },
];
