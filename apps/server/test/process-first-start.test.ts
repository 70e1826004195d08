import { inFullRun, someDialects } from '@remit/testing'
import { describe, expect, it } from 'vitest'
import { createInstallation } from './support/installation.ts'
import { remit } from './support/process.ts'

const isRun = inFullRun('first starts at once')

describe.skipIf(!isRun).each(someDialects())('first starts at once on %s', (dialect) => {
  it('make the tables once', async () => {
    const installation = await createInstallation(dialect, { hasTables: false })

    const ends = await Promise.all(
      Array.from({ length: 4 }, () => remit(['migrate', '--json'], installation.env)),
    )

    expect(ends.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
      ends.map(() => ({ code: 0, stderr: '' })),
    )
    const again = await remit(['migrate', '--json'], installation.env)
    expect(JSON.parse(again.stdout)).toMatchObject({ migrated: [] })
    await installation.remove()
  })
})
