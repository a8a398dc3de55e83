/** The library of signed tokens, which is loaded when the first one comes. */
export const library = () => import("jose");
