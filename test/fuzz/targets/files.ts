import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseCsv, parseTokenFile } from "../../../src/authentication/token-file.ts";
import { parseAbacFile } from "../../../src/authorization/abac-file.ts";
import { readPolicy } from "../../../src/http/audit/policy-file.ts";
import { ConfigurationFault, readClientConfiguration } from "../../../src/remote/client-configuration.ts";
import { ConfigurationError, readPlain } from "../../../src/schema/configuration.ts";
import { platform } from "../../../src/vocabulary/platform.ts";
import { attempt, attemptAsync, textOf, type Target } from "../target.ts";

/** Token files. */
export const tokenFileTarget: Target = {
  name: "token-file",
  files: ["src/authentication/token-file.ts", "src/authentication/token-file.ts"],
  seeds: ['token,user,1,"a,b"\n# comment\n\nt2,u2,2\n', 't,"a""b",\n'],
  dictionary: [",", '"', '""', "\n", "\r\n", "#"],
  async run(bytes) {
    await attemptAsync(() => parseCsv(textOf(bytes), "f"), Error);
    await attemptAsync(() => parseTokenFile(textOf(bytes)), Error);
  },
};

/** Policies of attribute-based access control. */
export const abacTarget: Target = {
  name: "abac",
  files: ["src/authorization/abac-file.ts"],
  seeds: [
    '{"apiVersion":"abac.authorization.platform.io/v1beta1","kind":"Policy","spec":{"user":"a","namespace":"*","resource":"pods","readonly":true}}\n# c\n',
    '{"user":"a","readonly":true}\n{"group":"g","nonResourcePath":"*"}\n',
  ],
  dictionary: ["\n", '"', "{", "}", ":", ",", "true", '"spec":', '"user":', "*"],
  run(bytes) {
    attempt(() => parseAbacFile(textOf(bytes), platform), Error);
  },
};

/** Audit policies and other configuration files. */
export const configurationTarget: Target = {
  name: "configuration",
  files: ["src/http/audit/policy-file.ts", "src/schema/configuration.ts"],
  seeds: [
    "apiVersion: audit.platform.io/v1\nkind: Policy\nrules:\n- level: Metadata\n  users: [a]\n  resources:\n  - group: ''\n    resources: [pods, pods/log]\n",
    '{"apiVersion":"audit.platform.io/v1","kind":"Policy","omitStages":["RequestReceived"],"rules":[{"level":"None","nonResourceURLs":["/a*"]}]}',
  ],
  dictionary: ["rules:", "\n", "- ", "level: ", "Request", ": ", "[", "]", "*"],
  async run(bytes) {
    await attemptAsync(() => readPlain(bytes), ConfigurationError);
    await attemptAsync(() => readPolicy(bytes, platform), ConfigurationError);
  },
};

/** Client configurations (kubeconfig), which are read from a file. */
export const clientConfigurationTarget: Target = {
  name: "client-configuration",
  files: ["src/remote/client-configuration.ts"],
  seeds: [
    "clusters:\n- name: c\n  cluster: {server: 'https://127.0.0.1:1/a', insecure-skip-tls-verify: true}\nusers:\n- name: u\n  user: {token: t}\ncontexts:\n- name: x\n  context: {cluster: c, user: u, namespace: n}\ncurrent-context: x\n",
    '{"clusters":[{"name":"c","cluster":{"server":"https://a","certificate-authority-data":"eA=="}}],"users":[{"name":"u","user":{"username":"a","password":"b","client-key-data":"eA=="}}],"contexts":[{"name":"x","context":{"cluster":"c","user":"u"}}],"current-context":"x"}',
  ],
  dictionary: [
    "clusters:",
    "users:",
    "current-context: ",
    "server: ",
    "token: ",
    "client-certificate-data: ",
    "\n",
    "- ",
    "{",
    "}",
    "eA==",
  ],
  async run(bytes) {
    const folder = mkdtempSync(path.join(tmpdir(), "plinth-fuzz-"));
    try {
      const file = path.join(folder, "config");
      writeFileSync(file, bytes);
      await attemptAsync(() => readClientConfiguration(file), ConfigurationFault);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
