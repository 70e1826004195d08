import { z } from 'zod'
import { contract } from '../contract.ts'
import type { EndpointName } from '../contract.ts'
import type { Endpoint } from '../endpoint.ts'

/** Returns the body of a success as the contract says it is; throws a `ZodError` where it is not. */
export const validateAnswer = (name: EndpointName, data: unknown): unknown =>
  shapeOf(contract[name]).parse(data)

const shapeOf = ({ ok, also = {} }: Endpoint): z.ZodType => z.union([ok, ...Object.values(also)])
