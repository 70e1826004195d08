import { z } from 'zod'

/** An object of the API with its name in the OpenAPI document. */
export const component = <Shape extends z.core.$ZodLooseShape>(id: string, shape: Shape) =>
  z.object(shape).meta({ id })

/** The same for input: an unknown member is an error. */
export const strictComponent = <Shape extends z.core.$ZodLooseShape>(id: string, shape: Shape) =>
  z.strictObject(shape).meta({ id })
