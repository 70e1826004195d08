import { describe, expect, test } from 'vitest'
import { userPath } from '../src/cli/options.ts'

const BY_PNPM = {
  INIT_CWD: '/home/ada',
  npm_lifecycle_event: 'remit',
  npm_package_json: '/srv/remit/package.json',
}

describe('a relative path of the command line', () => {
  test.each([
    ['is below the folder where pnpm was called', BY_PNPM, '/srv/remit', '/home/ada/a/b.txt'],
    ['is below the working folder without pnpm', {}, '/srv/remit', '/srv/remit/a/b.txt'],
    [
      'is below the working folder of a script that pnpm runs and that moved',
      BY_PNPM,
      '/srv/remit/evals',
      '/srv/remit/evals/a/b.txt',
    ],
    [
      'is below the working folder of another script',
      { ...BY_PNPM, npm_lifecycle_event: 'evals' },
      '/srv/remit',
      '/srv/remit/a/b.txt',
    ],
  ])('%s', (_, env, cwd, expected) => {
    expect(userPath('a/b.txt', env, cwd)).toBe(expected)
  })

  test('that is absolute stays as it is', () => {
    expect(userPath('/etc/key.pem', BY_PNPM, '/srv/remit')).toBe('/etc/key.pem')
  })
})
