import { parseArgs } from 'node:util'
import { CannotRun, readText } from './files.ts'
import { readKept, readKey } from './note.ts'
import type { Checkpoint, Key } from './note.ts'

export const USAGE = `usage: remit-verify EXPORT [options]

Verifies an exported ledger, and the reports generated from it, without the server.
EXPORT is a file of \`remit ledger export\` or GET /v1/ledger/export; - reads standard input.

  --report FILE       a report as JSON to compare with the export; repeatable
  --vkey KEY          the verifier key of the ledger from a trusted source
  --checkpoint FILE   an external checkpoint; repeatable
  --witness KEY       the verifier key of the witness: external checkpoints must have its
                      signature, from the first one on that has it
  --require-anchor    exit with 3 if neither a key nor a checkpoint confirms the ledger
  --json              print the result as one line of JSON
  --help

exit codes: 0 everything is as signed; 1 something was changed or is missing;
2 the verification could not run; 3 see --require-anchor
`

/** A checkpoint, and its file. */
export interface KeptCheckpoint extends Checkpoint {
  readonly path: string
}

export interface Options {
  readonly file: string
  readonly reports: readonly string[]
  readonly keys: readonly Key[]
  readonly witness: Key | null
  readonly checkpoints: readonly KeptCheckpoint[]
  /** Checkpoint files with invalid parts. */
  readonly damaged: readonly string[]
  readonly requireAnchor: boolean
  readonly json: boolean
}

/** Parses a command line; null for `--help`. */
export function readArguments(args: readonly string[]): Options | null {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      report: { type: 'string', multiple: true, default: [] },
      vkey: { type: 'string', multiple: true, default: [] },
      checkpoint: { type: 'string', multiple: true, default: [] },
      witness: { type: 'string' },
      'require-anchor': { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return null
  const [file, ...more] = positionals
  if (file === undefined || more.length > 0)
    throw new CannotRun('expected one export file; see --help')
  const paths = { EXPORT: [file], '--report': values.report, '--checkpoint': values.checkpoint }
  for (const [name, given] of Object.entries(paths))
    if (given.includes('')) throw new CannotRun(`the path ${name} is empty`)
  const kept = values.checkpoint.map(keptIn)
  return {
    file,
    reports: values.report,
    keys: values.vkey.map((vkey) => keyOf('--vkey', vkey)),
    witness: values.witness === undefined ? null : keyOf('--witness', values.witness),
    checkpoints: kept.flatMap(({ notes }) => notes),
    damaged: kept.flatMap(({ damaged }) => damaged),
    requireAnchor: values['require-anchor'],
    json: values.json,
  }
}

function keyOf(option: string, vkey: string): Key {
  const key = readKey(vkey.trim())
  if (key === null) throw new CannotRun(`${option} is not a verifier key`)
  return key
}

/** The content of a checkpoint file. */
interface Kept {
  readonly notes: readonly KeptCheckpoint[]
  /** Files with an invalid part, such as a truncated line. */
  readonly damaged: readonly string[]
}

/**
 * One or several concatenated notes; or the member `note` of JSON, or of each line of JSON Lines.
 */
function keptIn(path: string): Kept {
  const text = readText(path).replaceAll('\r\n', '\n')
  const { found, rest } = text.startsWith('{') ? inJson(text) : inText(text)
  const notes = found.flatMap((note) => {
    const kept = readKept(note)
    return kept === null ? [] : [{ ...kept, path }]
  })
  // A file without a checkpoint must not make the ledger look tampered.
  if (notes.length === 0) throw new CannotRun(`--checkpoint: ${path} contains no signed checkpoint`)
  const isDamaged = notes.length < found.length || rest.trim() !== ''
  return { notes, damaged: isDamaged ? [path] : [] }
}

/** Notes, and the invalid parts of the file. */
interface Found {
  readonly found: readonly string[]
  readonly rest: string
}

/**
 * A note: origin, size, root and further lines, an empty line, signatures. A regular expression would
 * try every line as the first one.
 */
function inText(text: string): Found {
  const found: string[] = []
  let rest = ''
  let body: string[] = []
  let signatures: string[] = []
  let isSeparated = false
  const end = () => {
    if (signatures.length > 0) found.push([...body, '', ...signatures, ''].join('\n'))
    else rest += body.join('\n')
    body = []
    signatures = []
    isSeparated = false
  }
  for (const line of text.split('\n')) {
    const isSignature = isSeparated && /^— ./s.test(line)
    if (isSignature) signatures.push(line)
    else if (line === '' && body.length >= 3 && !isSeparated) isSeparated = true
    else {
      if (isSeparated || line === '') end()
      if (line !== '') body.push(line)
    }
  }
  end()
  return { found, rest }
}

function inJson(text: string): Found {
  const pieces = noteOf(text) === null ? text.split('\n') : [text]
  return {
    found: pieces.flatMap((piece) => noteOf(piece) ?? []),
    rest: pieces.filter((piece) => noteOf(piece) === null).join(''),
  }
}

function noteOf(json: string): string | null {
  try {
    const { note } = JSON.parse(json) as { note?: unknown }
    return typeof note === 'string' ? note : null
  } catch {
    return null
  }
}
