/** Cost of the construction of an object, in the units of Kubernetes. */
export const objectCost = 40;
