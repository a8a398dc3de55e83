// The pages of the site in the order of the sidebar, by reader. A test compares this list with the files under docs/.

/** The first page. */
export const home = "docs/README.md";

/**
 * Sections of the sidebar. An entry is the path of a page from the root of the repository; with a label if its title is no good
 * one; or a folder, whose pages follow in the order of their names, under a generated page that lists them.
 * @type {readonly { readonly title: string, readonly entries: readonly Entry[] }[]}
 * @typedef {string | { readonly page: string, readonly label: string } | Folder} Entry
 * @typedef {{ readonly folder: string, readonly label: string, readonly about: string }} Folder
 */
export const sections = [
  {
    title: "Start",
    entries: [{ page: "README.md", label: "Five-minute tour" }, "docs/kubectl.md", "docs/pods.md"],
  },
  {
    title: "Use it in tests",
    entries: ["docs/testing.md", "docs/faults.md", "docs/envtest.md"],
  },
  {
    title: "Run it",
    entries: [
      "docs/running.md",
      "docs/deploying.md",
      "docs/authentication.md",
      "docs/encryption.md",
      "docs/join.md",
      "docs/upgrades.md",
    ],
  },
  {
    title: "Use its API",
    entries: [
      "docs/vocabularies.md",
      "docs/releases.md",
      "docs/release-details.md",
      "docs/custom-resources.md",
      "docs/apply.md",
      "docs/cel.md",
      "docs/sorted-lists.md",
      "docs/subscriptions.md",
      "docs/views.md",
      "docs/aggregation.md",
      "docs/console.md",
      "docs/console-security.md",
      "docs/projects.md",
      "docs/clients.md",
    ],
  },
  {
    title: "Use it as a library",
    entries: [
      "docs/authorization.md",
      "docs/authorization-questions.md",
      "docs/authorization-service.md",
      "docs/explaining.md",
      "docs/extensions.md",
      { folder: "docs/recipes", label: "Recipes", about: "Each recipe adds one part to the server." },
      "docs/library.md",
    ],
  },
  {
    title: "Operate it",
    entries: [
      "docs/observability.md",
      {
        folder: "docs/runbooks",
        label: "Runbooks",
        about: "What to look at and what to do, for each alert of `deploy/monitoring/`.",
      },
      "docs/recovery.md",
      "docs/audit.md",
      "docs/admission.md",
      "docs/admission-plugins.md",
      "docs/pod-security.md",
      "docs/webhooks.md",
      { page: "examples/webhooks/README.md", label: "Webhooks by example" },
      "docs/controllers.md",
      "docs/limits.md",
      "docs/reliability.md",
      "docs/performance.md",
      "docs/performance-reference.md",
      "docs/benchmarks.md",
      "docs/benchmark-scenarios.md",
    ],
  },
  {
    title: "Reference",
    entries: [
      "docs/flags.md",
      "docs/feature-gates.md",
      "docs/commands.md",
      "docs/manifests.md",
      "docs/errors.md",
      "docs/lifecycle.md",
      "docs/fairness.md",
      "docs/connections.md",
      "docs/default-roles.md",
      { page: "docs/enforcement.md", label: "What is enforced or only stored" },
      "docs/requirements.md",
    ],
  },
  {
    title: "Decisions and development",
    entries: [
      "docs/architecture.md",
      "docs/architecture-data.md",
      "docs/architecture-features.md",
      {
        folder: "docs/decisions",
        label: "Decisions",
        about:
          "Decisions about the design: the question, the alternatives with their figures, and the reason.",
      },
      "docs/add-a-release.md",
      "CONTRIBUTING.md",
      "SECURITY.md",
      "CHANGELOG.md",
    ],
  },
];

/** Pages that llms-full.txt leaves out, because they are long lists that are better searched than read. */
export const longLists = [
  "docs/apply.md",
  "docs/default-roles.md",
  "docs/flags.md",
  "docs/library.md",
  "docs/requirements.md",
  "CHANGELOG.md",
];
