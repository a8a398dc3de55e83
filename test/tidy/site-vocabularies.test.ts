import { describe, expect, it, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { longLists } from "../../site/navigation.mjs";
import { pages } from "../../site/pages.mjs";
import { kubernetesForm } from "../../site/src/vocabulary-forms.mjs";
import { NameTranslation } from "../../src/cli/convert/data-folder/names.ts";
import type { JsonObject } from "../../src/base/json/value.ts";
import * as groupsModule from "../../src/kinds/groups.ts";
import { kubernetes } from "../../src/vocabulary/kubernetes.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { codeBlocks } from "../support/pages.ts";

const groups: readonly string[] = Object.values(groupsModule).flatMap((group) =>
  typeof group === "object" && group.suffixed ? [group.base] : [],
);
const formOf = (text: string) => kubernetesForm(text, { platform, kubernetes, groups });
const blocks = pages.filter((page) => !longLists.includes(page)).flatMap((page) => codeBlocks(page));
const forms = blocks.flatMap(({ page, line, info, text }) => {
  const form = formOf(text);
  return form === undefined ? [] : [{ at: `${page}:${line}`, info, text, form }];
});

describe("the form of an example with the names of Kubernetes", () => {
  test.each([
    ["apiVersion: rbac.authorization.platform.io/v1", "apiVersion: rbac.authorization.k8s.io/v1"],
    ["apiGroups: [rbac.authorization.platform.io]", "apiGroups: [rbac.authorization.k8s.io]"],
    ["node.platform.io/not-ready", "node.kubernetes.io/not-ready"],
    ["apiVersion: node.platform.io/v1", "apiVersion: node.k8s.io/v1"],
    ["platform.io/metadata.name: a", "kubernetes.io/metadata.name: a"],
    ["pod-security.platform.io/enforce: baseline", "pod-security.kubernetes.io/enforce: baseline"],
    ["rbac.authorization.platform.io/autoupdate", "rbac.authorization.kubernetes.io/autoupdate"],
    ["rbac.authorization.platform.io/aggregate-to-edit", "rbac.authorization.k8s.io/aggregate-to-edit"],
    ["patch.webhook.admission.platform.io/round_0", "patch.webhook.admission.k8s.io/round_0"],
    ["namespace: platform-system", "namespace: kube-system"],
    ["x-platform-validations:", "x-kubernetes-validations:"],
    ["user system:controller-manager", "user system:kube-controller-manager"],
    ["name: root-ca.crt", "name: kube-root-ca.crt"],
    ["  platform-system   a", "  kube-system       a"],
    ["plinth serve --a \\\n  --b", "plinth serve --vocabulary=kubernetes --a \\\n  --b"],
    ["npm start", "npm start -- --vocabulary=kubernetes"],
    ["npm start -- --a", "npm start -- --vocabulary=kubernetes --a"],
    ["await createServer()", 'await createServer({ vocabulary: "kubernetes" })'],
    ["createServer({ port: 1 })", 'createServer({ vocabulary: "kubernetes", port: 1 })'],
    ["createServer({\n  port: 1,\n})", 'createServer({\n  vocabulary: "kubernetes",\n  port: 1,\n})'],
  ])("of %j is %j", (text, form) => expect(formOf(text)).toBe(form));

  test.each([
    "apiVersion: v1",
    "plinth serve --kubernetes",
    "plinth serve --vocabulary=platform",
    "rbac.authorization.platform.io or rbac.authorization.k8s.io",
    "xplatform.iox, platform-systems, my-root-ca.crt",
    "https.createServer({ cert })",
  ])("doesn't exist for %j", (text) => expect(formOf(text)).toBeUndefined());

  it("exists for more than 50 blocks and has no name of the platform vocabulary", () => {
    expect(forms.length).toBeGreaterThan(50);
    const remaining = /platform\.io|platform-(?:system|public|node-lease)|x-platform|vnd\.platform/i;
    expect(forms.filter(({ form }) => remaining.test(form)).map(({ at }) => at)).toEqual([]);
  });

  // Files of flags have groups that aren't served, which plinth convert doesn't know.
  const manifests = forms.filter(({ info, text }) => {
    const group = /^apiVersion: (\S+)\.platform\.io\/v/m.exec(text)?.[1];
    return info.startsWith("yaml") && (group === undefined || groups.includes(group));
  });

  it.each(manifests)("of the manifests $at has the names that plinth convert writes", ({ text, form }) => {
    const translation = new NameTranslation(platform, kubernetes);
    const objectsOf = (yaml: string) =>
      parseAllDocuments(yaml).map((document) => document.toJS() as JsonObject);
    expect(manifests.length).toBeGreaterThan(5);
    expect(objectsOf(form)).toEqual(objectsOf(text).map((object) => translation.object(object)));
  });
});
