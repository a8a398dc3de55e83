/** The addresses of pages that name nearly every word of the others, so that the others come first. */
const demoted = /^(requirements\/|changelog\/|#|$)/;

/**
 * Options of the index, the same where it is written and where it is read.
 * @type {import("minisearch").Options}
 */
export const searchOptions = {
  fields: ["title", "page", "text"],
  storeFields: ["address", "page", "title"],
  searchOptions: {
    boost: { title: 4, page: 2 },
    boostDocument: (_id, _term, { address }) => (demoted.test(address) ? 0.2 : 1),
    prefix: (term) => term.length > 1,
    fuzzy: (term) => (term.length > 5 ? 0.15 : false),
  },
};
