/**
 * The base path of the site with a slash at its end.
 * @param {string} base
 */
export const withSlash = (base) => (base.endsWith("/") ? base : `${base}/`);
