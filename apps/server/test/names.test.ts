import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '../../..')

/** Texts of the tree that tell people what to type or to set; not its history. */
const texts = globSync(
  [
    '*.{md,json}',
    '{apps,deploy,docs,examples,packages,sdks}/**/*.{md,ts,tsx,json,yaml,sh,py,toml,service}',
  ],
  {
    cwd: root,
    exclude: (path) => /(^|\/)(node_modules|dist|tests?|adr|CHANGELOG\.md)$|\.test\./.test(path),
  },
).map((path) => ({ path, text: readFileSync(resolve(root, path), 'utf8') }))

const linesWith = (pattern: RegExp): string[] =>
  texts.flatMap(({ path, text }) =>
    text
      .split('\n')
      .filter((line) => pattern.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  )

describe('names', () => {
  test('no two packages have a program of the same name, and remit is that of the server', () => {
    const programs = texts
      .filter(({ path }) => /^(packages|apps)\/[\w-]+\/package\.json$/.test(path))
      .flatMap(({ text }) => {
        const { name, bin = {} } = JSON.parse(text) as { name: string; bin?: object }
        return Object.keys(bin).map((program) => `${program} of ${name}`)
      })

    expect(programs.toSorted()).toEqual([
      'remit of @remit/server',
      'remit-mcp of @remit/mcp',
      'remit-sdk of @remit/sdk',
      'remit-verify of @remit/verify',
    ])
    expect(readFileSync(resolve(root, 'sdks/python/pyproject.toml'), 'utf8')).not.toContain(
      '[project.scripts]',
    )
  })

  test('REMIT_URL and REMIT_KEY are the only names of the address and the key', () => {
    const others = /\bREMIT_(API_KEY|CREDENTIAL|TOKEN|SERVER|HOST_URL)\b|\$REMIT\b/
    const lines = linesWith(others)

    expect(lines.filter((line) => !/\bold\b/.test(line))).toEqual([])
  })

  test('each package that npm could get is built before it is packed', () => {
    const manifests = texts.filter(({ path }) =>
      /^(packages|apps)\/[\w-]+\/package\.json$/.test(path),
    )
    const without = manifests.filter(({ text }) => {
      const {
        files,
        scripts,
        private: isPrivate,
      } = JSON.parse(text) as {
        files: string[]
        scripts: Record<string, string>
        private?: boolean
      }
      return !isPrivate && files.includes('dist') && scripts['prepack'] !== 'pnpm run build'
    })

    expect(manifests.length).toBeGreaterThan(5)
    expect(without.map(({ path }) => path)).toEqual([])
  })

  test('no page installs a name of ours from a registry that does not have it', () => {
    const found = texts.flatMap(({ path, text }) =>
      [...commandsIn(text).matchAll(FROM_REGISTRY)].map(([command]) => `${path}: ${command}`),
    )

    expect(found).toEqual([])
  })

  test.each([
    ['npm install @remit/sdk ai', true],
    ['npm i -g @remit/sdk@0.1.0', true],
    ['"command": "npx",\n  "args": [\n  "-y",\n  "@remit/mcp", "--agent"', true],
    ['npx remit-sdk doctor', true],
    ['`npx @remit/sdk doctor`', true],
    ['pip install remit', true],
    ['uv add "remit[langchain]"', true],
    ['npx --no remit-sdk doctor', false],
    ['npx -y -p node@24 -p pnpm@12 pnpm remit ledger verify', false],
    ['npm install ../remit-release/remit-sdk-*.tgz', false],
    ['npm install langchain\n```\n\nimport "@remit/sdk"', false],
  ])('the search for such commands judges %j: %s', (text, isFound) => {
    expect(FROM_REGISTRY.test(commandsIn(text))).toBe(isFound)
    FROM_REGISTRY.lastIndex = 0
  })
})

/** A command of a package manager up to a name of ours, with nothing but other names and options between them. */
const FROM_REGISTRY =
  /\b(npx|pnpx|bunx|uvx|(npm|pnpm|yarn|bun|uv|pip3?|pipx)( pip)? (i|install|add|dlx|exec|x|run|tool)) (?!--no )(?:[^\s`;&|#]+ )*?(@remit\/[\w-]+|remit(-sdk|-mcp|-verify)?)(?=[@[\s`;]|$)/gm

/** A text with lists of arguments as command lines, and the prefix of our own commands left out. */
const commandsIn = (text: string): string =>
  text
    .replaceAll(/npx -y -p node@24( -p pnpm@12)? /g, '')
    .replaceAll(/["'],?\s*("args": *\[)?\s*["']/g, ' ')
    .replaceAll(/["']/g, '')
