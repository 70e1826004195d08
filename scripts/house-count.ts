/**
 * Counts the files and lines of the product, and the files that belong to their only importer:
 * `node scripts/house-count.ts [--families] [FOLDER]`. `--families` lists the mergers, `importer ← parts`.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { parseArgs } from 'node:util'

const MOST_LINES = 500
const IMPORT = /(?:\bfrom\s*|\bimport\s*\(?\s*|\bnew URL\(\s*)(['"])(\.{1,2}\/[^'"]+)\1/g

const { values, positionals } = parseArgs({
  options: { families: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const [root = '.'] = positionals
const list = (...patterns: string[]) =>
  execFileSync('git', ['ls-files', ...patterns], { cwd: root, encoding: 'utf8' })
    .trim()
    .split('\n')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const isTest = (file: string) => /\.test\.tsx?$|(^|\/)test\//.test(file)

const files = new Map(list('*.ts', '*.tsx').map((file) => [file, read(file)]))
const product = [...files.keys()].filter((file) => !isTest(file))
const linesOf = (file: string) => (files.get(file) ?? '').split('\n').length - 1

const importers = new Map<string, Set<string>>()
const loadedByUrl = new Set<string>()
for (const [file, text] of files)
  for (const [statement, , path = ''] of text.matchAll(IMPORT)) {
    const target = join(dirname(file), path)
    const found = ['', '.ts', '.tsx', '/index.ts'].map((end) => target + end)
    const imported = found.find((name) => files.has(name))
    if (imported === undefined) continue
    if (statement.startsWith('new URL')) loadedByUrl.add(imported)
    importers.set(imported, (importers.get(imported) ?? new Set()).add(file))
  }

const manifests = list('package.json', '*/package.json').map(dirname)
const configuration = ['knip.json', ...list('*vite*.config.ts')].map(read).join('\n')

/** A manifest, or the configuration of a tool, names the file. */
function isEntry(file: string): boolean {
  const holders = manifests.filter((folder) => !relative(folder, file).startsWith('..'))
  const holder = holders.toSorted((a, b) => b.length - a.length)[0] ?? '.'
  const path = relative(holder, file)
  return configuration.includes(path) || read(join(holder, 'package.json')).includes(path)
}

/** The file into which this one belongs, by the rule of CONTRIBUTING. */
function ownerOf(file: string): string | null {
  const [owner, ...others] = importers.get(file) ?? []
  if (owner === undefined || others.length > 0 || isTest(owner)) return null
  if (dirname(owner) !== dirname(file) || basename(owner) === 'index.ts') return null
  const hasTest = ['.test.ts', '.test.tsx'].some((end) => files.has(file.replace(/\.tsx?$/, end)))
  return hasTest || loadedByUrl.has(file) || isEntry(file) ? null : owner
}

const owners = new Map(
  product.flatMap((file) => {
    const owner = ownerOf(file)
    return owner === null ? [] : [[file, owner] as const]
  }),
)
/** The end of a chain of owners; null for files that import each other. */
function lastOwner(file: string): string | null {
  const seen = new Set<string>()
  let last = file
  for (let next = owners.get(last); next !== undefined; next = owners.get(last)) {
    if (seen.has(last)) return null
    seen.add(last)
    last = next
  }
  return last
}

const families = new Map<string, { lines: number; parts: string[] }>()
const left: string[] = []
for (const file of [...owners.keys()].toSorted((a, b) => linesOf(a) - linesOf(b))) {
  const owner = lastOwner(file)
  const family = families.get(owner ?? '') ?? { lines: linesOf(owner ?? ''), parts: [] }
  if (owner === null || family.lines + linesOf(file) > MOST_LINES) {
    left.push(
      `${file} (${owner === null ? 'in a circle' : `${linesOf(file)} lines into ${owner}`})`,
    )
    continue
  }
  family.lines += linesOf(file)
  family.parts.push(file)
  families.set(owner, family)
}

if (values.families) {
  for (const [owner, { lines, parts }] of [...families].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    console.log(`${owner} ← ${parts.map((part) => basename(part)).join(', ')} (${lines} lines)`)
  console.log(['', 'too long together:', ...left].join('\n'))
}
const lines = product.reduce((sum, file) => sum + linesOf(file), 0)
const merged = owners.size - left.length
console.log(`${product.length} product files with ${lines} lines`)
console.log(`${[...files.keys()].filter((file) => /\.test\.tsx?$/.test(file)).length} test files`)
console.log(
  `${owners.size} files have one importer in their folder; ${merged} fit into it: ${product.length - merged} files remain`,
)
