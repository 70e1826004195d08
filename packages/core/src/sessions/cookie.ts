import { parse, serialize } from 'hono/utils/cookie'
import type { ConsolePlace } from './place.ts'

type CookiePlace = Pick<ConsolePlace, 'cookie' | 'isSecure'>

/** Returns a cookie of a `Cookie` header; undefined without one. */
export const readCookie = (header: string, { cookie }: CookiePlace): string | undefined =>
  parse(header, cookie)[cookie]

/** Returns the `Set-Cookie` header of a cookie; without a value, of its removal. */
export const writeCookie = ({ cookie, isSecure }: CookiePlace, value: string | null): string =>
  serialize(cookie, value ?? '', {
    httpOnly: true,
    secure: isSecure,
    sameSite: 'Lax',
    path: '/',
    ...(value === null && { maxAge: 0 }),
  })
