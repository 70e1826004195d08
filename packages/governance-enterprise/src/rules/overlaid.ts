import { fail, Failure, invalid } from '@remit/core/base'

interface Change {
  readonly set: readonly object[]
  readonly remove?: readonly string[]
}

/** Runs the check of one object of an overlay; a refusal names the fields with their place in it. */
export function at<T>(path: string, check: () => T): T {
  try {
    return check()
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const errors = error.extras.errors?.map((one) => ({ ...one, path: `${path}.${one.path}` }))
    throw fail(error.code, `${path}: ${error.message}`, {
      ...error.extras,
      ...(errors && { errors }),
    })
  }
}

/** Refuses an object that occurs twice in one part of an overlay; `key` is the member that names it. */
export function checkNames(path: string, key: string, { set, remove = [] }: Change): void {
  const seen = new Set(remove)
  for (const [i, one] of set.entries()) {
    const name = (one as Readonly<Record<string, string>>)[key] ?? ''
    if (seen.has(name))
      throw invalid(`${path}.set.${i}.${key}`, 'must occur once in set and remove together')
    seen.add(name)
  }
}
