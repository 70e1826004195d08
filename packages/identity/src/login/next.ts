const START = '/console'
/** The address is in a cookie. */
const MAX_LENGTH = 1_000
const HERE = 'http://here.invalid'

/**
 * Returns the page of the console to open after a sign-in: the path and query of `asked`, or the
 * start page. Addresses of other origins, and pages that sign in themselves, are no such page.
 */
export function nextOf(asked: string | null): string {
  if (asked === null || asked.length > MAX_LENGTH || !URL.canParse(asked, HERE)) return START
  const { origin, pathname, search } = new URL(asked, HERE)
  const isPage = /^\/console(?:\/(?!login$|callback$|start$)|$)/.test(pathname)
  return origin === HERE && isPage ? pathname + search : START
}
