// The pages of the site in the order of the sidebar, by reader. A test compares this list with the files under docs/.

/** The first page: what the product is, installation, first command, and the ways in by reader. */
export const home = "README.md";

/** The page that lists all pages by reader; the sections follow its headings. */
export const index = "docs/README.md";

/**
 * Sections of the sidebar, in the order of the headings of {@link index}. An entry is the path of a page from the root of the repository;
 * with a label if its title is no good one; or a folder, whose pages follow in the order of their names, under a generated page that lists
 * them.
 * @type {readonly { readonly title: string, readonly entries: readonly Entry[] }[]}
 * @typedef {string | { readonly page: string, readonly label: string } | Folder} Entry
 * @typedef {{ readonly folder: string, readonly label: string, readonly about: string }} Folder
 */
export const sections = [
  {
    title: "Try it",
    entries: [{ page: index, label: "All pages, by reader" }, "docs/kubectl.md", "docs/pods.md"],
  },
  {
    title: "Test operators, controllers or tools",
    entries: ["docs/testing.md", "docs/faults.md", "docs/envtest.md", "docs/validate.md", "docs/library.md"],
  },
  {
    title: "Use its authorization for a product",
    entries: [
      "docs/authorization.md",
      "docs/authorization-questions.md",
      "docs/authorization-service.md",
      "docs/default-roles.md",
      "docs/explaining.md",
    ],
  },
  {
    title: "Run it",
    entries: [
      "docs/running.md",
      "docs/deploying.md",
      "docs/recovery.md",
      "docs/upgrades.md",
      "docs/flags.md",
      "docs/feature-gates.md",
      "docs/commands.md",
      "docs/manifests.md",
      "docs/observability.md",
      {
        folder: "docs/runbooks",
        label: "Runbooks",
        about: "What to look at and what to do, for each alert of `deploy/monitoring/`.",
      },
      "docs/encryption.md",
      "docs/authentication.md",
      "docs/admission.md",
      "docs/admission-plugins.md",
      "docs/pod-security.md",
      "docs/webhooks.md",
      { page: "examples/webhooks/README.md", label: "Webhooks by example" },
      "docs/audit.md",
      "docs/controllers.md",
      "docs/join.md",
      "docs/aggregation.md",
      "docs/reliability.md",
      "docs/limits.md",
      "docs/errors.md",
      "docs/lifecycle.md",
      "docs/fairness.md",
      "docs/connections.md",
      "docs/performance.md",
      "docs/performance-reference.md",
      "docs/benchmarks.md",
      "docs/benchmark-scenarios.md",
    ],
  },
  {
    title: "Use its API",
    entries: [
      "docs/vocabularies.md",
      "docs/releases.md",
      "docs/release-details.md",
      "docs/projects.md",
      "docs/clients.md",
      "docs/views.md",
      "docs/sorted-lists.md",
      "docs/console.md",
      "docs/console-security.md",
      "docs/console-workspaces.md",
      "docs/history.md",
      "docs/transactions.md",
      "docs/undo.md",
      "docs/workspaces.md",
      "docs/branches.md",
      "docs/preview.md",
      "docs/subscriptions.md",
      "docs/custom-resources.md",
      "docs/cel.md",
      "docs/apply.md",
      { page: "docs/enforcement.md", label: "What is enforced or only stored" },
    ],
  },
  {
    title: "Extend it or work on it",
    entries: [
      "docs/extensions.md",
      { folder: "docs/recipes", label: "Recipes", about: "Each recipe adds one part to the server." },
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
      "docs/requirements.md",
      "SECURITY.md",
      "CHANGELOG.md",
    ],
  },
];

/** Pages that llms-full.txt leaves out, because they are long lists or tables of figures that are better searched than read. */
export const longLists = [
  "docs/apply.md",
  "docs/benchmark-scenarios.md",
  "docs/benchmarks.md",
  "docs/default-roles.md",
  "docs/feature-gates.md",
  "docs/flags.md",
  "docs/library.md",
  "docs/performance.md",
  "docs/performance-reference.md",
  "docs/requirements.md",
  "CHANGELOG.md",
];
