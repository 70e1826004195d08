import { contract } from '../contract.ts'
import type { EndpointName } from '../contract.ts'

/** Returns the body of a success as the contract says it is; throws a `ZodError` where it is not. */
export const validateAnswer = (name: EndpointName, data: unknown): unknown =>
  contract[name].ok.parse(data)
