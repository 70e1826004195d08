/** Token exchange. */
export const token = {}
