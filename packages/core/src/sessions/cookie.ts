import { parse, serialize } from 'hono/utils/cookie'
import type { ConsolePlace } from './place.ts'

/** Returns the session's cookie of a `Cookie` header; undefined without one. */
export const readCookie = (header: string, { cookie }: ConsolePlace): string | undefined =>
  parse(header, cookie)[cookie]

/** Returns the `Set-Cookie` header of a session; without a value, of its removal. */
export const writeCookie = ({ cookie, isSecure }: ConsolePlace, value: string | null): string =>
  serialize(cookie, value ?? '', {
    httpOnly: true,
    secure: isSecure,
    sameSite: 'Lax',
    path: '/',
    ...(value === null && { maxAge: 0 }),
  })
