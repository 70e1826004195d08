import { z } from 'zod'

/** `0` or `1`; default `0`. */
export const flag = z
  .enum(['0', '1'], { error: 'must be 0 or 1' })
  .default('0')
  .transform((value) => value === '1')

/** A whole number from `min` to `max`. */
export const whole = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((n) => n >= min && n <= max, `must be a whole number from ${min} to ${max}`)

/** Requests refuse a URL with a password and quote it in their error, which would be logged. */
export const HTTP_URL = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL', abort: true })
  .refine((text) => {
    const { username, password } = new URL(text)
    return username + password === ''
  }, 'must be a URL without user name and password')
