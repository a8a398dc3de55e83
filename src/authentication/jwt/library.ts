/** Loads the JOSE library at the first token. */
export const loadJose = () => import("jose");
